"""True classes from a table: by path, by name, relative to the table or to the images."""

from __future__ import annotations

import pytest

from workbench.errors import DatasetError
from workbench.pictures.listed.labels import ListedLabels


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
