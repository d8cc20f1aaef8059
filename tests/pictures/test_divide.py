"""Splits of real files by content: duplicates, renamed files, added files, groups, remembered marks."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import CancelledForTest, PlainContext
from workbench.core.projects.data_edits import DataEdits
from workbench.core.specs import ArrayPart, FilePart, LoadedData
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import all_datasets
from workbench.errors import DatasetError
from workbench.pictures.contents import content_of_file
from workbench.pictures.dataset_bundle import pack, unpacked
from workbench.pictures.divide import groups_of
from workbench.pictures.edited import edited
from workbench.pictures.grouping import pattern as pattern_module
from workbench.pictures.png import write_png
from workbench.pictures.prepare import prepare, prepare_test

RECIPE = TrainingRecipe().with_values(split="content", test_share=0.2, validation_share=0.25)
PARTS = ("train", "validation", "test")


@pytest.fixture
def ctx(tmp_path):
    return PlainContext(tmp_path / "cache")


def write(root: Path, name: str, value: int) -> None:
    write_png(root / name, np.full((6, 6, 3), value, np.uint8))


@pytest.fixture
def root(tmp_path):
    for number in range(40):
        write(tmp_path / "data", f"{'ab'[number % 2]}/{number}.png", number)
    return tmp_path / "data"


def load(root: Path, ctx, recipe=RECIPE, edits=DataEdits()) -> LoadedData:  # noqa: B008 - a value
    return edited(all_datasets()["folder"].load(ctx, {"path": str(root)}), edits, ctx, recipe)


def prepared(loaded: LoadedData, ctx, recipe=RECIPE):
    return prepare(loaded, shape=(6, 6, 3), fit="crop", recipe=recipe, ctx=ctx)


def values(part) -> set[int]:
    return {int(n) for n in np.asarray(part.x)[:, 0, 0, 0]}


def parts_of(data) -> dict[str, set[int]]:
    return {name: values(getattr(data, name)) for name in PARTS}


def test_renamed_files_change_nothing_and_each_part_has_its_size(root, ctx):
    before = prepared(load(root, ctx), ctx)
    assert [len(getattr(before, name)) for name in PARTS] == [24, 8, 8]
    for number, path in enumerate(sorted(root.rglob("*.png"))):
        path.rename(path.with_name(f"renamed {(number * 7) % 40}.png"))
    after = prepared(load(root, ctx), ctx)
    assert parts_of(after) == parts_of(before)
    assert after.marks == before.marks


def test_images_added_later_move_none_when_the_marks_are_remembered(root, ctx):
    before = prepared(load(root, ctx), ctx)
    for number in range(40, 90):
        write(root, f"{'ab'[number % 2]}/{number}.png", number)
    kept = DataEdits(split=before.marks)
    after = prepared(load(root, ctx, edits=kept), ctx)
    for name in PARTS:
        assert parts_of(before)[name] <= parts_of(after)[name]
    assert after.marks == before.marks
    afresh = prepared(load(root, ctx), ctx)
    assert afresh.marks.bounds != before.marks.bounds
    assert len(afresh.test) == 18


def test_copies_are_never_in_two_parts(root, ctx):
    for number in range(40):
        source = root / f"{'ab'[number % 2]}/{number}.png"
        shutil.copy(source, root / f"{'ba'[number % 2]}/copy of {number}.png")
        shutil.copy(source, root / f"{'ab'[number % 2]}/again {number}.png")
    parts = parts_of(prepared(load(root, ctx), ctx))
    assert sum(map(len, parts.values())) == 40
    by_order = parts_of(prepared(load(root, ctx), ctx, RECIPE.with_values(split="order")))
    assert sum(map(len, by_order.values())) > 40


def test_the_test_part_for_evaluation_is_that_of_training(root, ctx):
    (root / "a/broken.png").write_bytes(b"\x89PNG\r\n\x1a\n cut")
    for recipe in (RECIPE, RECIPE.with_values(folds=4, fold=3)):
        loaded = load(root, ctx, recipe)
        data = prepared(loaded, ctx, recipe)
        part = prepare_test(loaded, shape=(6, 6, 3), fit="crop", recipe=recipe, ctx=ctx)
        np.testing.assert_array_equal(part.x, data.test.x)
        assert len(data.bad_files) == 1


def test_folds_hold_out_each_image_once(root, ctx):
    plain = parts_of(prepared(load(root, ctx), ctx))
    seen: list[int] = []
    for fold in range(1, 5):
        data = prepared(load(root, ctx), ctx, RECIPE.with_values(folds=4, fold=fold))
        assert values(data.test) == plain["test"]
        assert len(data.validation) == 8
        seen += values(data.validation)
    assert sorted(seen) == sorted(plain["train"] | plain["validation"])


def test_another_seed_of_the_training_keeps_the_split(root, ctx):
    first = RECIPE.with_values(split_seed=5, seed=1)
    second = first.with_values(seed=2)
    assert parts_of(prepared(load(root, ctx), ctx, first)) == parts_of(
        prepared(load(root, ctx), ctx, second)
    )
    assert parts_of(prepared(load(root, ctx), ctx, RECIPE.with_values(seed=2))) != parts_of(
        prepared(load(root, ctx), ctx, first)
    )


# edits -------------------------------------------------------------------------------------


def part_of_each(data) -> dict[int, str]:
    return {value: name for name, found in parts_of(data).items() for value in found}


def id_of(root: Path, value: int) -> str:
    return content_of_file(str(next(root.rglob(f"{value}.png")))).hex()


BY_ORDER = RECIPE.with_values(split="order")
RECIPES = [RECIPE, BY_ORDER, RECIPE.with_values(folds=4, fold=2), BY_ORDER.with_values(folds=3)]


@pytest.mark.parametrize("recipe", RECIPES, ids=["content", "order", "folds", "folds by order"])
@pytest.mark.parametrize("is_remembered", [False, True])
def test_no_edit_moves_another_image(tmp_path, ctx, recipe, is_remembered):
    root = tmp_path / "data"
    for number in range(90):
        write(root, f"{'abc'[number % 3]}/{number}.png", number)
    for number in (0, 1, 2, 30):
        shutil.copy(root / f"{'abc'[number % 3]}/{number}.png", root / f"a/copy of {number}.png")
    (root / "a/broken.png").write_bytes(b"\x89PNG\r\n\x1a\n cut")
    before = prepared(load(root, ctx, recipe), ctx, recipe)
    parts = part_of_each(before)
    ids = {value: id_of(root, value) for value in parts}
    tested = sorted(value for value, part in parts.items() if part == "test")
    trained = sorted(value for value, part in parts.items() if part == "train" and value > 30)
    broken = content_of_file(str(root / "a/broken.png")).hex()
    several = frozenset(ids[value] for value in (*tested[:3], *trained[:9]))
    changes = {
        "merge": DataEdits(classes={"a": "b"}),
        "merge under a new name": DataEdits(classes={"a": "x", "c": "x"}),
        "rename": DataEdits(classes={"a": "x"}),
        "leave a class out": DataEdits(classes={"b": ""}),
        "leave images out": DataEdits(left_out=several),
        "leave an unreadable one out": DataEdits(left_out=frozenset({broken})),
        "relabel": DataEdits(labels=dict.fromkeys(several, "c")),
        "one copy": DataEdits(once=frozenset(ids[value] for value in (0, 1, 2, 30))),
        "one copy, in a class": DataEdits(once=frozenset({ids[1]}), labels={ids[1]: "b"}),
        "move": DataEdits(parts={ids[trained[0]]: "test", ids[trained[1]]: "validation"}),
    }
    marks = before.marks if is_remembered else DataEdits().split
    for words, change in changes.items():
        edits = replace(change, split=marks)
        loaded = load(root, ctx, recipe, edits)
        if words == "merge":
            shutil.rmtree(tmp_path / "there", ignore_errors=True)
            pack(loaded, tmp_path / "parcel.zip", ctx)
            shutil.unpack_archive(tmp_path / "parcel.zip", tmp_path / "there")
            loaded = replace(unpacked(tmp_path / "there"), marks=marks)
        data = prepared(loaded, ctx, recipe)
        wanted = parts if not edits.parts else {
            **parts, trained[0]: "test", trained[1]: "validation"
        }  # fmt: skip
        moved = {v: (wanted[v], p) for v, p in part_of_each(data).items() if wanted[v] != p}
        # By order, copies of an image may be in two parts: which is seen here is arbitrary.
        assert {v for v in moved if v not in {0, 1, 2, 30}} == set(), words
        if recipe.split == "content":
            assert moved == {}, words


def test_moved_images_of_the_source_stay_where_they_are_put(tmp_path, ctx):
    for number in range(60):
        part = "test" if number >= 40 else "train"
        write(tmp_path / "data", f"{part}/{'ab'[number % 2]}/{number}.png", number)
    root = tmp_path / "data"
    before = part_of_each(prepared(load(root, ctx), ctx))
    ids = {value: id_of(root, value) for value in (0, 40, 41)}
    moved = DataEdits(parts={ids[0]: "test", ids[40]: "train", ids[41]: "validation"})
    after = part_of_each(prepared(load(root, ctx, edits=moved), ctx))
    assert after == {**before, 0: "test", 40: "train", 41: "validation"}


def test_merging_folders_that_are_groups_is_said_to_move_images(tmp_path, ctx):
    for number in range(72):
        write(tmp_path / "data", f"{'abc'[number % 3]}/p{number // 6}/{number}.png", number)
    for number, name in enumerate("abc", 200):
        write(tmp_path / "data", f"{name}/alone.png", number)
    recipe = RECIPE.with_values(group_by="subfolder")
    root = tmp_path / "data"
    noted = "images may be in another part than before the classes were merged"
    merged = DataEdits(classes={"a": "b"})
    assert any(noted in note for note in load(root, ctx, recipe, merged).notes)
    for edits, own in ((merged, RECIPE), (DataEdits(classes={"a": "x", "b": ""}), recipe)):
        assert not any(noted in note for note in load(root, ctx, own, edits).notes)
    before = part_of_each(prepared(load(root, ctx, recipe), ctx, recipe))
    renamed = load(root, ctx, recipe, DataEdits(classes={"a": "x", "b": ""}))
    after = part_of_each(prepared(renamed, ctx, recipe))
    assert after.items() <= before.items()


# groups ------------------------------------------------------------------------------------


def test_images_of_a_subfolder_stay_together_here_and_on_another_computer(tmp_path, ctx):
    for number in range(80):
        patient = number // 4
        write(tmp_path / "data", f"{'ab'[patient % 2]}/patient {patient}/{number}.png", number)
    write(tmp_path / "data", "a/alone.png", 200)
    recipe = RECIPE.with_values(group_by="subfolder")
    loaded = load(tmp_path / "data", ctx, recipe)
    data = prepared(loaded, ctx, recipe)
    parts = parts_of(data)
    for patient in range(20):
        members = set(range(4 * patient, 4 * patient + 4))
        assert sum(members <= part for part in parts.values()) == 1
    assert all(len(part) >= 8 for part in parts.values())

    pack(loaded, tmp_path / "parcel.zip", ctx)
    shutil.unpack_archive(tmp_path / "parcel.zip", tmp_path / "there")
    there = prepared(unpacked(tmp_path / "there"), ctx, recipe)
    assert parts_of(there) == parts
    assert there.marks == data.marks


def test_folders_merged_into_a_class_are_its_groups(tmp_path, ctx):
    for number in range(40):
        write(tmp_path / "data", f"{'ab'[number // 4 % 2]}/p{number // 4}/{number}.png", number)
    recipe = RECIPE.with_values(group_by="subfolder")
    merged = DataEdits(classes={f"p{number}": "ab"[number % 2] for number in range(10)})
    plain, loaded = (load(tmp_path / "data", ctx, recipe, each) for each in (DataEdits(), merged))
    assert set(plain.basis.groups.tolist()) == {b""}, "each folder is a class"
    assert loaded.class_names == ("a", "b")
    assert len(set(loaded.basis.groups.tolist())) == 10
    parts = parts_of(prepared(loaded, ctx, recipe))
    for group in range(10):
        assert sum({4 * group, 4 * group + 3} <= part for part in parts.values()) == 1


def prefixes(ctx, names: list[str], pattern: str = "") -> list[int]:
    """A number for each name: equal for those of one group, 0 for none."""
    loaded = LoadedData(
        ("a",), FilePart(tuple(f"/x/{n}" for n in names), np.zeros(len(names), np.int64))
    )
    recipe = RECIPE.with_values(group_by="prefix", group_pattern=pattern)
    groups = groups_of(loaded, recipe, {}, ctx).tolist()
    known = list(dict.fromkeys([b"", *groups]))
    return [known.index(group) for group in groups]


def test_names_are_alike_up_to_the_last_number_or_letter(ctx):
    names = ["patient07_1.png", "patient07_2.png", "patient08_1.png", "IMG_1234_a.jpg"]
    names += ["IMG_1234_b.jpg", "IMG_1234.jpg", "cat.jpg", "dog-3.jpg", "dog-4.jpg", "a_bc.png"]
    assert prefixes(ctx, names) == [1, 1, 2, 3, 3, 3, 0, 4, 4, 0]


def test_a_pattern_names_the_group(ctx):
    names = ["s1-cam1-7.png", "s1-cam2-9.png", "s2-cam1-7.png", "other.png"]
    assert prefixes(ctx, names, r"^(s\d+)-") == [1, 1, 2, 0]
    assert prefixes(ctx, names, r"cam\d") == [1, 2, 1, 0]
    with pytest.raises(DatasetError, match="no regular expression"):
        prefixes(ctx, names, "(")


@pytest.mark.parametrize("pattern", [r"^(a+)+$", r"(a|aa)*$"])
def test_a_pattern_that_takes_forever_is_refused(ctx, pattern, monkeypatch):
    monkeypatch.setattr(pattern_module, "_CPU_S", 1)
    with pytest.raises(DatasetError, match="takes too long") as caught:
        prefixes(ctx, ["a" * 40 + "!.png"], pattern)
    assert caught.value.received == pattern
    assert "settings of the split" in caught.value.fix


def test_a_search_for_groups_can_be_canceled(tmp_path):
    with pytest.raises(CancelledForTest):
        prefixes(PlainContext(tmp_path, cancel_after=0), ["a" * 40 + "!.png"], r"^(a+)+$")


def test_classes_that_are_one_group_and_images_in_no_files_are_noted(tmp_path, ctx):
    for number in range(12):
        write(tmp_path / "data", f"{'ab'[number % 2]}/x_{number}.png", number)
    recipe = RECIPE.with_values(group_by="prefix")
    data = prepared(load(tmp_path / "data", ctx, recipe), ctx, recipe)
    assert any("are one group: none can be held out" in note for note in data.notes)
    assert data.test is None

    pixels = np.random.default_rng(3).integers(0, 255, (30, 6, 6, 3), np.uint8)
    loaded = LoadedData(("a", "b"), ArrayPart(pixels, np.arange(30) % 2))
    data = prepared(edited(loaded, DataEdits(), ctx, recipe), ctx, recipe)
    assert "The images are in no files: they are divided without groups." in data.notes
    assert len(data.test) == 6


def test_images_in_memory_are_split_by_their_pixels(ctx):
    pixels = np.random.default_rng(3).integers(0, 255, (60, 6, 6, 3), np.uint8)
    pixels[30:] = pixels[:30]
    labels = np.arange(60) % 2
    data = prepared(LoadedData(("a", "b"), ArrayPart(pixels, labels)), ctx)
    sets = [{one.tobytes() for one in np.asarray(getattr(data, name).x)} for name in PARTS]
    assert sum(map(len, sets)) == 30
    turned = LoadedData(("a", "b"), ArrayPart(pixels[::-1].copy(), labels[::-1].copy()))
    again = prepared(turned, ctx)
    assert sets == [{one.tobytes() for one in np.asarray(getattr(again, n).x)} for n in PARTS]
    assert replace(again.marks) == data.marks
