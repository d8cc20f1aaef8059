"""True classes from a table: by path, by name, relative to the table or to the images."""

from __future__ import annotations

import pytest

from workbench.errors import DatasetError, ParamError
from workbench.pictures.listed.given import Given, table_and_settings
from workbench.pictures.listed.table import ListedLabels


@pytest.fixture
def table(tmp_path):
    def write(*lines):
        path = tmp_path / "labels.csv"
        path.write_text("\n".join(["path,label", *lines]))
        return path

    return write


@pytest.mark.parametrize("name", ["photos/a.jpg", "photos\\a.jpg", "{folder}/a.jpg", "a.jpg", "a"])
def test_an_image_is_found_however_it_is_named(table, tmp_path, name):
    folder = tmp_path / "photos"
    labels = ListedLabels(table(f"{name.format(folder=folder)},rose", "b.jpg,lily"), [str(folder)])
    assert labels.of(str(folder / "a.jpg")) == "rose"
    assert labels.of(str(folder / "b.jpg")) == "lily"
    assert labels.of(str(folder / "c.jpg")) == ""


def test_a_name_with_two_labels_counts_only_with_its_folder(table, tmp_path):
    labels = ListedLabels(table("x/a.jpg,rose", "y/a.jpg,lily"))
    assert labels.of(str(tmp_path / "x" / "a.jpg")) == "rose"
    assert labels.of(str(tmp_path / "y" / "a.jpg")) == "lily"
    assert labels.of(str(tmp_path / "z" / "a.jpg")) == ""


def test_what_is_no_such_table_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("only one column\n1\n")
    with pytest.raises(DatasetError, match="not a table"):
        ListedLabels(path)
    with pytest.raises(DatasetError, match="cannot be read"):
        ListedLabels(tmp_path / "missing.csv")


def test_an_entry_with_a_folder_labels_no_image_of_another_folder(table, tmp_path):
    labels = ListedLabels(table("train/1.jpg,rose", "2.jpg,lily"), [str(tmp_path)])
    assert labels.of(str(tmp_path / "train/1.jpg")) == "rose"
    assert labels.of(str(tmp_path / "test/other/1.jpg")) == ""
    assert labels.of(str(tmp_path / "test/other/2.jpg")) == "lily"


def test_columns_are_chosen_behind_the_path(table, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("file,kind,species\na.jpg,plant,rose\nb.jpg,plant,lily\nc.jpg,tree,oak\n")
    assert ListedLabels(path).of("a.jpg") == "rose"
    text = f"{path}?label=kind&split=none"
    assert table_and_settings(text) == (path, Given(label="kind", split="none"))
    labels = ListedLabels(*table_and_settings(text)[:1], given=table_and_settings(text)[1])
    assert [labels.of(f"{name}.jpg") for name in "abc"] == ["plant", "plant", "tree"]
    assert "The label column: kind (set in the data source)." in labels.sentences
    odd = tmp_path / "what?really.csv"
    assert table_and_settings(str(odd)) == (odd, Given())
    with pytest.raises(ParamError):
        table_and_settings(f"{path}?header=perhaps")


def test_the_classes_of_the_model_show_which_column_is_the_label(tmp_path):
    path = tmp_path / "labels.csv"
    rows = [f"{n}.jpg,{('wild', 'garden')[n % 2]},{('Rose', 'lily')[n % 2]}" for n in range(6)]
    path.write_text("\n".join(["file,category,what", *rows]))
    assert ListedLabels(path).of("0.jpg") == "wild"
    labels = ListedLabels(path, classes=("rose", "lily", "oak"))
    assert labels.of("0.jpg") == "Rose"
    assert any("classes of the model" in each for each in labels.sentences)


def test_a_list_with_one_class_is_a_list(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("file,label\na.jpg,rose\nb.jpg,rose\n")
    assert ListedLabels(path).of("b.jpg") == "rose"


def test_other_spellings_of_a_file(table, tmp_path):
    labels = ListedLabels(
        table("Photos/IMG_1.JPG,rose", "Lo\u0308we.jpg,lily", "x.jpg,a", "X.jpg,b")
    )
    assert labels.of(str(tmp_path / "photos" / "img_1.jpg")) == "rose"
    assert labels.of("/elsewhere/L\u00f6we.jpg") == "lily"
    assert [labels.of(f"/else/{name}.jpg") for name in "xX"] == ["a", "b"]


def test_an_image_with_several_classes_counts_for_none_and_is_said(table, tmp_path):
    (tmp_path / "a.jpg").touch()
    path = table("a.jpg,rose", "b.jpg,rose", "./a.jpg,lily", "b.jpg,rose", "x/c,rose", "x/c,oak")
    labels = ListedLabels(path)
    known = [labels.of(str(tmp_path / name)) for name in ("a.jpg", "b.jpg", "x/c", "x/c.jpg")]
    assert known == ["", "rose", "", ""]
    assert labels.of("/elsewhere/a.jpg") == ""
    said = "Lines give 2 images several classes, so these count for none: a.jpg and c."
    assert said in labels.sentences


def test_a_name_whose_image_is_there_is_not_that_of_another_folder(table, tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("a.jpg", "sub/a.jpg", "sub/b.jpg"):
        (tmp_path / name).write_bytes(b"")
    labels = ListedLabels(table("a.jpg,rose", "b.jpg,lily"), [str(tmp_path)])
    assert labels.of(str(tmp_path / "a.jpg")) == "rose"
    assert labels.of(str(tmp_path / "sub" / "a.jpg")) == ""
    assert labels.of(str(tmp_path / "sub" / "b.jpg")) == "lily"


@pytest.mark.parametrize(
    ("header", "label"),
    [("old_label,label", "b"), ("predicted,truth", "b"), ("truth,predicted", "a")],
)
def test_of_columns_with_classes_the_best_named_one_is_the_truth(tmp_path, header, label):
    path = tmp_path / "t.csv"
    lines = ["1.jpg,a,b", "2.jpg,b,a", "3.jpg,a,a", "4.jpg,b,a"]
    path.write_text("\n".join([f"image,{header}", *lines]))
    labels = ListedLabels(path, classes=("a", "b"))
    assert labels.of("1.jpg") == label
    assert any("may be meant" in each for each in labels.sentences)


def test_predictions_as_labels_are_doubted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("file,predicted\n1.jpg,a\n2.jpg,b\n3.jpg,a\n")
    labels = ListedLabels(path, classes=("a", "b"))
    assert any("predictions" in each for each in labels.sentences)
