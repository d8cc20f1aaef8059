"""Splits of real files by content: duplicates, renamed files, added files, groups, remembered marks."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import PlainContext
from workbench.core.projects.data_edits import DataEdits
from workbench.core.specs import ArrayPart, FilePart, LoadedData
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import all_datasets
from workbench.errors import DatasetError
from workbench.pictures.dataset_bundle import pack, unpacked
from workbench.pictures.edited import edited
from workbench.pictures.groups import groups_of
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
    assert set(plain.groups.tolist()) == {b""}, "each folder is a class"
    assert loaded.class_names == ("a", "b")
    assert len(set(loaded.groups.tolist())) == 10
    parts = parts_of(prepared(loaded, ctx, recipe))
    for group in range(10):
        assert sum({4 * group, 4 * group + 3} <= part for part in parts.values()) == 1


def prefixes(names: list[str], pattern: str = "") -> list[int]:
    """A number for each name: equal for those of one group, 0 for none."""
    loaded = LoadedData(
        ("a",), FilePart(tuple(f"/x/{n}" for n in names), np.zeros(len(names), np.int64))
    )
    recipe = RECIPE.with_values(group_by="prefix", group_pattern=pattern)
    groups = groups_of(loaded, recipe, {}).tolist()
    known = list(dict.fromkeys([b"", *groups]))
    return [known.index(group) for group in groups]


def test_names_are_alike_up_to_the_last_number_or_letter():
    names = ["patient07_1.png", "patient07_2.png", "patient08_1.png", "IMG_1234_a.jpg"]
    names += ["IMG_1234_b.jpg", "IMG_1234.jpg", "cat.jpg", "dog-3.jpg", "dog-4.jpg", "a_bc.png"]
    assert prefixes(names) == [1, 1, 2, 3, 3, 3, 0, 4, 4, 0]


def test_a_pattern_names_the_group():
    names = ["s1-cam1-7.png", "s1-cam2-9.png", "s2-cam1-7.png", "other.png"]
    assert prefixes(names, r"^(s\d+)-") == [1, 1, 2, 0]
    assert prefixes(names, r"cam\d") == [1, 2, 1, 0]
    with pytest.raises(DatasetError, match="no regular expression"):
        prefixes(names, "(")


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
