"""Folders as people publish them: read right, doubtful with the right option, or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.contexts import PlainContext
from tests.datasets.foreign_folders import layouts
from tests.datasets.foreign_layout import Layout, counts_of, judged
from workbench.core.specs import ArrayPart, LoadedData
from workbench.datasets import all_datasets
from workbench.datasets._class_parts import class_order, with_look_alikes
from workbench.errors import DatasetError


def load(folder: Path, **params: object) -> LoadedData:
    context = PlainContext(folder.parent / "cache")
    return all_datasets()["folder"].load(context, {"path": str(folder), **params})


@pytest.mark.parametrize("layout", layouts(), ids=lambda layout: layout.name)
def test_every_layout_comes_out_as_it_is_meant(tmp_path, layout):
    folder = layout.write(tmp_path / "data")
    result = judged(lambda params: load(folder, **params), layout)
    assert result.outcome == layout.outcome, f"{result.read} {result.words}"
    assert result.uncounted == 0, result.words


def written(tmp_path: Path, words: str) -> Path:
    return Layout("", words).write(tmp_path / "data")


def test_parts_are_an_inference_that_can_be_changed(tmp_path):
    folder = written(tmp_path, "seg_train/seg_train/{a,b}*3 seg_test/seg_test/{a,b}*2 seg_pred*4")
    data = load(folder)
    (parts,) = data.inferences
    assert parts.sentence == (
        "The parts: train (“seg_train”), test (“seg_test”) (by the names of the folders)."
    )
    assert data.notes == ("Folder “seg_pred” with 4 images is not used.",)
    merged = load(folder, parts="merge")
    assert counts_of(merged) == {"a": (5, 0, 0), "b": (5, 0, 0)}
    assert merged.inferences[0].is_told
    assert set(counts_of(load(folder, parts="none"))) == {
        "seg_pred", "seg_test", "seg_train",
    }  # fmt: skip


def test_merged_parts_keep_classes_that_training_lacks(tmp_path):
    folder = written(tmp_path, "train/{a,b}*3 test/{b,c}*2")
    assert counts_of(load(folder, parts="merge")) == {
        "a": (3, 0, 0),
        "b": (5, 0, 0),
        "c": (2, 0, 0),
    }


@pytest.mark.parametrize(
    ("classes", "names"),
    [
        ("auto", {"paris/cats", "paris/dogs", "rome/cats", "rome/dogs"}),
        ("top", {"paris", "rome"}),
        ("inner", {"cats", "dogs"}),
        ("path", {"paris/cats", "paris/dogs", "rome/cats", "rome/dogs"}),
    ],
)
def test_levels_can_be_set(tmp_path, classes, names):
    data = load(written(tmp_path, "{paris,rome}/{cats,dogs}*3"), classes=classes)
    assert set(data.class_names) == names
    (inference,) = data.inferences
    assert inference.is_doubtful == (classes == "auto")
    assert inference.is_told == (classes != "auto")


def test_one_folder_inside_can_be_chosen(tmp_path):
    folder = written(tmp_path, "data/{color,black}/{cats,dogs}*3")
    data = load(folder, inside="data/Color")
    assert counts_of(data) == {"cats": (3, 0, 0), "dogs": (3, 0, 0)}
    assert data.notes == ("Folder “data/black” with 6 images is not used.",)
    with pytest.raises(DatasetError, match="no such folder with images inside") as caught:
        load(folder, inside="data/white")
    assert (caught.value.received, caught.value.expected) == ("white", "black, color")


def test_one_of_several_data_sets_is_read_with_a_doubt(tmp_path):
    folder = written(tmp_path, "{new,old}/{train,test}/{a,b}*3 extra*2")
    data = load(folder)
    inside = next(each for each in data.inferences if each.key == "inside")
    assert (inside.value, inside.is_doubtful) == ("new", True)
    assert [option.value for option in inside.options] == ["old"]
    assert data.notes == (
        "Folder “extra” with 2 images is not used.",
        "Folder “old” with 12 images is not used.",
    )


def test_masks_are_not_used_unless_they_are_meant_to_be(tmp_path):
    folder = written(tmp_path, "{a,b}/images*3 {a,b}/masks*2")
    data = load(folder)
    (aside,) = data.inferences
    assert aside.value == "not used: “masks”"
    assert aside.doubt == "They hold 4 images."
    assert data.notes == ()
    assert counts_of(load(folder, aside="use")) == {"a": (5, 0, 0), "b": (5, 0, 0)}


def test_classes_in_names_of_files(tmp_path):
    folder = written(tmp_path, "{train,test}/{cat,dog}.#.jpg*6 train/#*1 test/bird_#*2")
    with pytest.raises(DatasetError, match="no class folders") as caught:
        load(folder)
    assert "parts=none" in caught.value.fix
    data = load(folder, classes="names")
    assert counts_of(data) == {"cat": (6, 6, 0), "dog": (6, 6, 0)}
    assert data.notes == (
        "1 image without a class in the name: not used.",
        "2 images without a class in the name: not used.",
    )
    merged = load(folder, classes="names", parts="merge")
    assert counts_of(merged) == {"cat": (12, 0, 0), "dog": (12, 0, 0)}
    assert set(load(folder, parts="none").class_names) == {"train", "test"}


def test_names_of_files_are_doubtful_and_can_be_set(tmp_path):
    folder = written(tmp_path, "{cat,dog}_#.jpg*6")
    (inference,) = load(folder).inferences
    assert inference.is_doubtful
    assert inference.value == "2 names of files: “cat”, “dog”"
    assert inference.evidence == "there are no class folders, and cat_0.jpg is “cat”"
    people = written(tmp_path / "p", "{anna,bert}_#*2")
    with pytest.raises(DatasetError, match="no class folders") as caught:
        load(people)
    assert "classes=names" in caught.value.fix
    assert counts_of(load(people, classes="names")) == {"anna": (2, 0, 0), "bert": (2, 0, 0)}


def test_a_table_beside_loose_pictures_is_named(tmp_path):
    with pytest.raises(DatasetError, match="no class folders") as caught:
        load(written(tmp_path, "#*4 labels.csv"))
    assert "If a table names the classes" in caught.value.fix


def test_names_that_look_alike_are_doubtful_and_can_be_merged(tmp_path):
    folder = written(tmp_path, "train/{Rose,rose,tulip}*3 test/{rose,tulip}*2")
    data = load(folder)
    assert counts_of(data) == {"Rose": (3, 0, 0), "rose": (3, 2, 0), "tulip": (3, 2, 0)}
    doubt = next(each for each in data.inferences if each.key == "look_alikes")
    assert doubt.is_doubtful
    assert doubt.evidence == (
        "“Rose” and “rose” differ in case, spaces, invisible marks, “copy” or the form of a "
        "number only"
    )
    merged = load(folder, look_alikes="merge")
    assert counts_of(merged) == {"Rose": (6, 2, 0), "tulip": (3, 2, 0)}
    labels = merged.train.labels.tolist()
    assert labels == sorted(labels)
    assert all("tulip" in path for path in merged.test.paths[2:])


def test_names_of_another_case_in_a_part_are_noted(tmp_path):
    data = load(written(tmp_path, "train/{Rose,Tulip}*3 test/{rose,TULIP}*2"))
    assert data.notes == (
        "“TULIP” is taken as “Tulip” (other case).",
        "“rose” is taken as “Rose” (other case).",
    )


def test_the_order_of_classes_is_said_where_others_have_another(tmp_path):
    (order,) = load(written(tmp_path / "a", "{1,2,10}*3")).inferences
    assert order.value == "1, 2, 10"
    assert "1, 10, 2" in order.evidence
    assert not order.is_doubtful
    assert load(written(tmp_path / "b", "{a,b}*3")).inferences == ()


def test_every_entry_that_is_not_used_is_counted(tmp_path):
    folder = written(tmp_path, "{a,b}*3 a/notes.txt a/b.xml README x/y/ z.csv z2.csv")
    (folder / "a" / "gone.png").symlink_to(folder / "nowhere")
    (folder / "b" / "out").symlink_to(tmp_path)
    for circle in (folder / "circle", folder / "a" / "circle.png", folder / "a" / ".hidden.png"):
        circle.symlink_to(circle.name)
    data = load(folder)
    assert data.notes == (
        "Folder “x” has no images and is ignored.",
        "1 inner folder: links, not used.",
        "3 links to nothing, or no file: not used.",
    )
    (others,) = data.inferences
    assert others.sentence == (
        "Other files: 5, not used: 2 .csv, 1 without ending, 1 .txt, 1 .xml (neither their names "
        "nor their first bytes are those of images)."
    )


def test_many_folders_that_are_not_used_are_counted_together(tmp_path):
    names = ",".join(f"e{number}" for number in range(20))
    data = load(written(tmp_path, f"{{a,b}}*3 {{{names}}}/"))
    assert data.notes[-1] == "8 more folders: the same."


def test_parts_inside_of_classes_can_be_merged(tmp_path):
    folder = written(tmp_path, "{a,b}/{train,test}*3")
    data = load(folder, parts="merge")
    assert counts_of(data) == {"a": (6, 0, 0), "b": (6, 0, 0)}
    assert data.inferences[0].is_told


def test_the_classes_are_known_without_loading(tmp_path):
    folder = written(tmp_path, "{train,test}/{Rose,rose,tulip}*3")

    def classes(params):
        return all_datasets()["folder"].listing(params).class_names

    assert classes({"path": str(folder)}) == ("Rose", "rose", "tulip")
    assert classes({"path": str(folder), "look_alikes": "merge"}) == ("Rose", "tulip")
    assert len(classes({"path": str(folder), "parts": "none", "classes": "path"})) == 6


def test_look_alikes_of_arrays_are_merged_too():
    labels = np.array([0, 1, 2, 1])
    part = ArrayPart(np.zeros((4, 2, 2, 1), np.uint8), labels)
    data = LoadedData(class_names=("Rose", "rose", "tulip"), train=part, test=part)
    merged = with_look_alikes(data, data.class_names, {"look_alikes": "merge"})
    assert merged.class_names == ("Rose", "tulip")
    assert merged.train.labels.tolist() == merged.test.labels.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("words", "how"),
    [
        ("train/{ash,oak}*3 test/{bee,oak}*2", {"parts": "merge"}),
        ("x/{ash,oak}*3 y/{bee,oak}*2", {"classes": "inner"}),
        ("1#_oak*1 2#_ash*1 3#_bee*1", {"classes": "names"}),
    ],
)
def test_joined_classes_are_in_the_order_of_people(tmp_path, words, how):
    assert load(written(tmp_path, words), **how).class_names == ("ash", "bee", "oak")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("class 2", "class 10"), "numbers by their value"),
        (("owl", "cat"), "as their folders or the source have it"),
    ],
)
def test_the_order_of_classes_is_said_as_it_is(names, words):
    (order,) = class_order(names)
    assert order.evidence.startswith(words)


@pytest.mark.parametrize(
    ("words", "key", "doubt"),
    [
        ("{a,b}*4 a/blurry*2", "inner_folders", "“blurry” may hold"),
        ("{a,b}*4 a/kittens*2", "inner_folders", ""),
        ("{a,b,figures}*4", "class_folders", "figures, masks"),
        ("{a,b}/img{0,1,2}{,_flip}.png", "aside_files", "counts several times"),
        ("{cat,dog}_{train,test}*3 rose*3", "parts", "usual for parts"),
        ("a/u{1,2}/{train,test}*3 b/v{1,2}/{train,test}*3", "class_folders", "differ in numbers"),
    ],
)
def test_what_was_taken_without_a_sign_is_told(tmp_path, words, key, doubt):
    data = load(written(tmp_path, words))
    told = [each for each in data.inferences if each.key == key]
    assert any(bool(each.doubt) == bool(doubt) and doubt in each.doubt for each in told), told


def test_few_images_around_classes_are_not_used_and_told(tmp_path):
    folder = written(tmp_path, "animals/{cat,dog}*5 plants/{oak,rose}*5 {animals,plants}*1")
    data = load(folder)
    assert counts_of(data) == dict.fromkeys(("cat", "dog", "oak", "rose"), (5, 0, 0))
    (levels,) = data.inferences
    assert levels.doubt == "2 images right in “animals”, “plants”: not used."
    assert data.notes == ("2 images outside class folders are not used.",)
    assert counts_of(load(folder, classes="top")) == {"animals": (11, 0, 0), "plants": (11, 0, 0)}


def test_class_and_part_in_one_name_can_be_classes(tmp_path):
    folder = written(tmp_path, "{cat,dog}_{train,val,test}*3")
    data = load(folder)
    assert counts_of(data) == {"cat": (3, 3, 3), "dog": (3, 3, 3)}
    assert data.inferences[0].value == (
        "train (“cat_train, …”), test (“cat_test, …”), validation (“cat_val, …”)"
    )
    assert len(counts_of(load(folder, parts="none"))) == 6
    assert counts_of(load(folder, parts="merge")) == {"cat": (9, 0, 0), "dog": (9, 0, 0)}


def test_numbers_that_each_folder_has_are_no_sign_of_masks(tmp_path):
    data = load(written(tmp_path, "{faces,hands,masks}/#.png*4"))
    assert data.class_names == ("faces", "hands", "masks")


def test_levels_around_parts_inside_can_be_set(tmp_path):
    folder = written(tmp_path, "{cat,dog}/{north,south}/{train,test}*3")
    assert len(counts_of(load(folder))) == 4
    assert counts_of(load(folder, classes="top")) == {"cat": (6, 6, 0), "dog": (6, 6, 0)}
    assert set(counts_of(load(folder, classes="inner"))) == {"north", "south"}
