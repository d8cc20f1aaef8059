"""What the user has edited about a data set is applied to it, and said, and nothing else changes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import PlainContext
from workbench.core.projects.data_edits import PART_NAMES, DataEdits
from workbench.core.projects.project import Choice, Project
from workbench.core.specs import ArrayPart, FilePart, LoadedData
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import TEST, TRAIN, VALIDATION
from workbench.datasets import all_datasets, facts_of, glance_at
from workbench.errors import DatasetError
from workbench.pictures import edited as edited_module
from workbench.pictures.contents import contents_of
from workbench.pictures.png import write_png
from workbench.pictures.prepare import prepare, prepare_test

NAMES = ("ant", "bee", "cat")


def edited(loaded: LoadedData, edits: DataEdits, ctx) -> LoadedData:
    return edited_module.edited(loaded, edits, ctx, TrainingRecipe())


def said(data: LoadedData, bad=()) -> str:
    """What is noted of the images that were edited."""
    return " ".join(edited_module.changes_note(data, bad))


@pytest.fixture
def ctx(tmp_path):
    return PlainContext(tmp_path / "cache")


def write_folder(root: Path, per_class: int = 10) -> Path:
    """Plain images; each is of a brightness of its own."""
    for label, name in enumerate(NAMES):
        for number in range(per_class):
            value = label * per_class + number
            write_png(root / name / f"{number}.png", np.full((8, 8, 3), value, np.uint8))
    return root


def load(root: Path, ctx) -> LoadedData:
    return all_datasets()["folder"].load(ctx, {"path": str(root)})


def content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def arrays(count: int = 12, tests: int = 6) -> LoadedData:
    """Images in memory; the first value of each is its number."""
    pictures = np.zeros((count + tests, 4, 4, 1), np.uint8)
    pictures[:, 0, 0, 0] = np.arange(count + tests)
    labels = np.arange(count + tests, dtype=np.int64) % 3
    return LoadedData(
        NAMES,
        ArrayPart(pictures[:count], labels[:count]),
        ArrayPart(pictures[count:], labels[count:]),
    )


def numbers(part) -> list[int]:
    pictures = part.pictures if isinstance(part, ArrayPart) else part.x
    return [int(value) for value in np.asarray(pictures)[:, 0, 0, 0]]


def test_the_names_of_parts_are_in_the_order_of_their_numbers():
    assert [PART_NAMES[part] for part in (TRAIN, VALIDATION, TEST)] == [
        "train",
        "validation",
        "test",
    ]


def test_without_edits_nothing_is_read(tmp_path, ctx, monkeypatch):
    loaded = load(write_folder(tmp_path / "data"), ctx)
    monkeypatch.setattr(edited_module, "contents_of", None)
    assert edited(loaded, DataEdits(kept=frozenset({"leak:1"})), ctx).train is loaded.train
    merged = edited(loaded, DataEdits(classes={"ant": "insect", "bee": "insect"}), ctx)
    assert merged.class_names == ("insect", "cat")


def test_images_are_left_out_and_relabeled_by_content(tmp_path, ctx):
    root = write_folder(tmp_path / "data")
    (root / "bee/copy.png").write_bytes((root / "ant/3.png").read_bytes())
    out, other = content(root / "ant/3.png"), content(root / "bee/4.png")
    edits = DataEdits(left_out=frozenset({out}), labels={other: "cat"})
    (root / "bee/4.png").rename(root / "bee/renamed.png")
    data = edited(load(root, ctx), edits, ctx)
    names = [path.split("/")[-2:] for path in data.train.paths]
    assert len(names) == 29  # both copies of the one are out
    assert ["ant", "3.png"] not in names
    assert ["bee", "copy.png"] not in names
    label = data.train.labels[names.index(["bee", "renamed.png"])]
    assert data.class_names[label] == "cat"
    assert said(data) == "Edits of the data: 2 images left out and 1 image relabeled."


def test_classes_are_renamed_merged_and_left_out_in_the_order_of_the_first(tmp_path, ctx):
    loaded = load(write_folder(tmp_path / "data"), ctx)
    data = edited(loaded, DataEdits(classes={"cat": "ant", "bee": "wasp"}), ctx)
    assert data.class_names == ("ant", "wasp")
    assert np.bincount(data.train.labels).tolist() == [20, 10]
    assert "Classes “ant” and “cat” merged into “ant”." in data.notes
    assert "Class “bee” renamed to “wasp”." in data.notes
    data = edited(loaded, DataEdits(classes={"ant": "", "dog": "x"}), ctx)
    assert data.class_names == ("bee", "cat")
    assert np.bincount(data.train.labels).tolist() == [10, 10]
    assert "Class “ant” left out." in data.notes
    assert "The data set has no class “dog”: the edit changes nothing." in data.notes
    with pytest.raises(DatasetError, match="Fewer than two classes"):
        edited(loaded, DataEdits(classes={"ant": "", "cat": "bee"}), ctx)


def test_an_image_relabeled_as_a_class_that_is_left_out_is_left_out(tmp_path, ctx):
    root = write_folder(tmp_path / "data")
    edits = DataEdits(labels={content(root / "ant/0.png"): "cat"}, classes={"cat": ""})
    assert len(edited(load(root, ctx), edits, ctx).train) == 19


def test_each_edited_image_is_counted_once_by_what_becomes_of_it(tmp_path, ctx):
    root = write_folder(tmp_path / "data")
    (root / "ant/broken.png").write_bytes(b"\x89PNG\r\n\x1a\n cut")
    (root / "bee/copy.png").write_bytes((root / "bee/0.png").read_bytes())
    ids = {name: content(root / name) for name in
           ("ant/0.png", "ant/1.png", "ant/2.png", "ant/broken.png", "bee/0.png", "bee/1.png",
            "cat/0.png", "cat/1.png")}  # fmt: skip
    edits = DataEdits(
        left_out=frozenset({ids["ant/0.png"], ids["cat/0.png"]}),
        once=frozenset({ids["bee/0.png"]}),
        labels={
            ids["ant/0.png"]: "bee",  # left out, too
            ids["ant/1.png"]: "bee",
            ids["ant/2.png"]: "ant",  # as it is
            ids["ant/broken.png"]: "bee",
            ids["bee/1.png"]: "cat",  # which is left out
            ids["cat/1.png"]: "bee",
        },
        parts={ids["ant/0.png"]: "test", ids["ant/1.png"]: "test", ids["ant/broken.png"]: "test"},
        classes={"cat": ""},
    )
    data = edited(load(root, ctx), edits, ctx)
    broken = str(root / "ant/broken.png")
    assert said(data, {broken}) == (
        "Edits of the data: 2 images left out, 1 image left out as copies of others, 2 images "
        "relabeled and 1 image moved to another part."
    )
    recipe = TrainingRecipe()
    made = prepare(data, shape=(8, 8, 3), fit="crop", recipe=recipe, ctx=ctx)
    assert said(data, {broken}) in made.notes
    (root / "ant/twin.png").write_bytes((root / "bee/2.png").read_bytes())
    twin = content(root / "bee/2.png")
    chosen = DataEdits(labels={twin: "bee"}, once=frozenset({twin}))  # "use only the one in bee"
    assert said(edited(load(root, ctx), chosen, ctx)) == (
        "Edits of the data: 1 image left out as copies of others."
    )
    merged = DataEdits(labels={ids["ant/1.png"]: "bee"}, classes={"ant": "bee"})
    assert said(edited(load(root, ctx), merged, ctx)) == ""


def test_images_in_memory_that_are_edited_are_counted(ctx):
    loaded = arrays()
    ids = [each.decode() for part in loaded.parts for each in contents_of(part, ctx)]
    edits = DataEdits(labels={ids[0]: "bee", ids[13]: "cat"}, parts={ids[1]: "test"})
    assert said(edited(loaded, edits, ctx)) == (
        "Edits of the data: 2 images relabeled and 1 image moved to another part."
    )


def test_edits_that_match_nothing_are_named(tmp_path, ctx):
    root = write_folder(tmp_path / "data")
    edits = DataEdits(
        left_out=frozenset({"0" * 32}),
        labels={content(root / "ant/0.png"): "dog"},
        parts={"1" * 32: "test"},
    )
    data = edited(load(root, ctx), edits, ctx)
    assert len(data.train) == 30
    assert data.notes == (
        "Images relabeled as “dog” keep their class: the data set has no such class.",
        "2 edits match no image of this data set: 00000000… (left out), 11111111… (moved).",
    )


def test_moved_images_are_pinned_where_the_source_has_no_test_part(tmp_path, ctx):
    root = write_folder(tmp_path / "data")
    recipe = TrainingRecipe(test_share=0.2, validation_share=0.2)
    shape = {"shape": (8, 8, 3), "fit": "crop", "recipe": recipe, "ctx": ctx}
    plain = prepare(load(root, ctx), **shape)
    tested, trained = numbers(plain.test), numbers(plain.train)
    moved = {tested[0]: "train", trained[0]: "test", trained[1]: "validation"}
    paths = {value: root / NAMES[value // 10] / f"{value % 10}.png" for value in moved}
    edits = DataEdits(parts={content(paths[value]): part for value, part in moved.items()})
    loaded = edited(load(root, ctx), edits, ctx)
    assert said(loaded) == "Edits of the data: 3 images moved to another part."
    data = prepare(loaded, **shape)
    parts = {"train": data.train, "validation": data.validation, "test": data.test}
    for value, part in moved.items():
        assert value in numbers(parts[part])
    assert sorted(n for part in parts.values() for n in numbers(part)) == list(range(30))
    assert numbers(prepare_test(loaded, **shape)) == numbers(data.test)


def test_moved_images_change_the_part_where_the_source_has_a_test_part(ctx):
    loaded = arrays()
    ids = [each.decode() for each in contents_of(loaded.train, ctx)]
    test_ids = [each.decode() for each in contents_of(loaded.test, ctx)]
    edits = DataEdits(
        left_out=frozenset({ids[5]}),
        parts={ids[0]: "test", test_ids[2]: "train", test_ids[3]: "validation"},
    )
    data = edited(loaded, edits, ctx)
    assert numbers(data.train) == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 14, 15]
    assert numbers(data.test) == [0, 12, 13, 16, 17]
    assert data.test.labels.tolist() == [0, 0, 1, 1, 2]
    recipe = TrainingRecipe(validation_share=0.2)
    made = prepare(data, shape=(4, 4, 1), fit="crop", recipe=recipe, ctx=ctx)
    assert 15 in numbers(made.validation)
    assert 14 in numbers(made.train)
    assert numbers(made.test) == [0, 12, 13, 16, 17]


def test_of_copies_one_is_used(tmp_path, ctx):
    root = write_folder(tmp_path / "data")
    for name in ("ant/copy.png", "bee/copy.png"):
        (root / name).write_bytes((root / "ant/3.png").read_bytes())
    loaded = load(root, ctx)
    data = edited(loaded, DataEdits(once=frozenset({content(root / "ant/3.png")})), ctx)
    assert len(data.train) == len(loaded.train) - 2 == 30
    assert str(root / "ant/3.png") in data.train.paths
    assert said(data) == "Edits of the data: 2 images left out as copies of others."


def test_a_source_with_a_validation_part_keeps_three_parts(tmp_path, ctx):
    for name in ("train", "validation", "test"):
        write_folder(tmp_path / "data" / name, per_class=6)
    root = tmp_path / "data"
    for number, name in enumerate(("train", "validation", "test")):
        for path in (root / name).rglob("*.png"):
            value = 18 * number + NAMES.index(path.parent.name) * 6 + int(path.stem)
            write_png(path, np.full((8, 8, 3), value, np.uint8))
    loaded = load(root, ctx)
    moved = {"validation/ant/0.png": "train", "train/ant/0.png": "validation"}
    moved |= {"test/ant/0.png": "validation"}
    edits = DataEdits(parts={content(root / name): part for name, part in moved.items()})
    recipe = TrainingRecipe()
    data = prepare(edited(loaded, edits, ctx), shape=(8, 8, 3), fit="crop", recipe=recipe, ctx=ctx)
    assert numbers(data.train) == [*range(1, 18), 18]
    assert sorted(numbers(data.validation)) == [0, *range(19, 36), 36]
    assert numbers(data.test) == list(range(37, 54))


def test_images_in_memory_are_not_copied_for_an_edit(ctx):
    loaded = arrays()
    ids = [each.decode() for each in contents_of(loaded.train, ctx)]
    data = edited(loaded, DataEdits(left_out=frozenset({ids[0]})), ctx)
    assert not isinstance(data.train.pictures, np.ndarray)
    assert data.test.pictures is loaded.test.pictures
    assert int(data.train.pictures[3][0, 0, 0]) == 4
    assert numbers(data.train) == list(range(1, 12))


def test_the_last_layer_is_checked_against_the_edited_classes(tmp_path):
    root = write_folder(tmp_path / "data", per_class=2)
    project = Project(dataset=Choice("folder", {"path": str(root)}))
    assert glance_at(project).num_classes == 3
    merged = Project(dataset=project.dataset, edits=DataEdits(classes={"ant": "cat"}))
    assert glance_at(merged).num_classes == 2
    published = Project(edits=DataEdits(classes={"Bag": "", "Shirt": "Coat"}))
    assert facts_of(Project()).num_classes == 10
    assert facts_of(published).num_classes == 8


def test_a_part_of_files_stays_one_of_files(tmp_path, ctx):
    root = write_folder(tmp_path / "data")
    edits = DataEdits(left_out=frozenset({content(root / "ant/0.png")}))
    part = edited(load(root, ctx), edits, ctx).train
    assert isinstance(part, FilePart)
    assert len(part.paths) == len(part.labels) == 29
