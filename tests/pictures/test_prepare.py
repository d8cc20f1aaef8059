"""From files and arrays to three parts: once decoded, rightly split, bad files reported."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.contexts import CancelledForTest, PlainContext
from workbench.core.specs import ArrayPart, FilePart, LoadedData
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import DatasetError, PictureError
from workbench.pictures import fitted as fitted_module
from workbench.pictures import rows as store_module
from workbench.pictures.file_rows import FileRows
from workbench.pictures.folders import list_pictures
from workbench.pictures.png import write_png
from workbench.pictures.prepare import prepare
from workbench.pictures.rows import StoredRows, has_room, open_rows, prune, write_rows
from workbench.pictures.thumbnails import decode_picture, write_thumbnails

RECIPE = TrainingRecipe(validation_share=0.2, test_share=0.2, seed=3)


def make_files(folder: Path, counts: tuple[int, ...], side: int = 12) -> LoadedData:
    """Plain pictures whose brightness is their number: every row can be identified."""
    paths, labels, number = [], [], 0
    for label, count in enumerate(counts):
        for _ in range(count):
            path = folder / f"c{label}" / f"{number}.png"
            write_png(path, np.full((side, side + 4, 3), number % 256, np.uint8))
            paths.append(str(path))
            labels.append(label)
            number += 1
    names = tuple(f"c{label}" for label in range(len(counts)))
    return LoadedData(names, FilePart(tuple(paths), np.array(labels, np.int64)))


def numbers(part) -> list[int]:
    return [int(n) for n in np.asarray(part.x)[:, 0, 0, 0]]


def test_files_are_split_and_stay_with_their_labels(tmp_path):
    loaded = make_files(tmp_path / "data", (40, 20))
    data = prepare(
        loaded, shape=(8, 8, 3), fit="crop", recipe=RECIPE, ctx=PlainContext(tmp_path / "cache")
    )
    parts = [data.train, data.validation, data.test]
    assert sorted(n for part in parts for n in numbers(part)) == list(range(60))
    for part in parts:
        assert part.x.shape[1:] == (8, 8, 3)
        assert part.x[:].dtype == np.uint8
        assert part.y.tolist() == [0 if n < 40 else 1 for n in numbers(part)]
    assert np.bincount(data.test.y).tolist() == [8, 4]
    assert np.bincount(data.validation.y).tolist() == [6, 3]
    assert data.bad_files == ()
    assert data.notes == ()


def test_files_are_decoded_once(tmp_path, monkeypatch):
    loaded = make_files(tmp_path / "data", (10, 10))
    arguments = {"shape": (8, 8, 1), "fit": "pad", "recipe": RECIPE}
    first = prepare(loaded, **arguments, ctx=PlainContext(tmp_path / "cache"))

    def decode_again(*_):
        raise AssertionError("the pictures are decoded already")

    monkeypatch.setattr(fitted_module, "part_picture", decode_again)
    again = prepare(loaded, **arguments, ctx=PlainContext(tmp_path / "cache"))
    assert (np.asarray(first.train.x) == np.asarray(again.train.x)).all()
    other_seed = RECIPE.with_values(seed=4)
    prepare(loaded, **{**arguments, "recipe": other_seed}, ctx=PlainContext(tmp_path / "cache"))


def test_a_changed_file_is_decoded_again(tmp_path):
    loaded = make_files(tmp_path / "data", (10, 10))
    recipe = TrainingRecipe(validation="none")
    ctx = PlainContext(tmp_path / "cache")
    prepare(loaded, shape=(8, 8, 3), fit="crop", recipe=recipe, ctx=ctx)
    write_png(loaded.train.paths[0], np.full((12, 20, 3), 250, np.uint8))
    data = prepare(loaded, shape=(8, 8, 3), fit="crop", recipe=recipe, ctx=ctx)
    assert 250 in numbers(data.train) + numbers(data.test)
    assert 0 not in numbers(data.train) + numbers(data.test)


@pytest.mark.parametrize("damage", ["cut", "text", "no side file"])
def test_a_damaged_cache_is_made_again(tmp_path, damage):
    loaded = make_files(tmp_path / "data", (10, 10))
    ctx = PlainContext(tmp_path / "cache")
    arguments = {"shape": (8, 8, 3), "fit": "crop", "recipe": RECIPE, "ctx": ctx}
    first_rows = prepare(loaded, **arguments).train.x[:]
    (stored,) = (tmp_path / "cache" / "pictures").glob("*.npy")
    if damage == "cut":
        stored.write_bytes(stored.read_bytes()[:500])
    elif damage == "text":
        stored.write_text("not a numpy file")
    else:
        stored.with_suffix(".json").unlink()
    assert (prepare(loaded, **arguments).train.x[:] == first_rows).all()


def test_unreadable_files_are_left_out_and_named(tmp_path, shared_data):
    loaded = make_files(tmp_path / "data", (10, 10))
    bad = [shared_data / "odd_images" / name for name in ("zero_bytes.jpg", "broken_png_half.png")]
    part = FilePart(
        (str(bad[0]), *loaded.train.paths, str(bad[1])), np.array([0, *loaded.train.labels, 1])
    )
    for _ in range(2):  # decoded, and from the cache
        data = prepare(
            LoadedData(loaded.class_names, part),
            shape=(8, 8, 3),
            fit="crop",
            recipe=RECIPE,
            ctx=PlainContext(tmp_path / "cache"),
        )
        assert [Path(path).name for path, _ in data.bad_files] == [path.name for path in bad]
        assert "empty" in data.bad_files[0][1]
        assert "cut off" in data.bad_files[1][1]
        parts = (data.train, data.validation, data.test)
        assert sorted(n for part in parts for n in numbers(part)) == list(range(20))


def test_all_unreadable_and_one_class_readable(tmp_path):
    ctx = PlainContext(tmp_path / "cache")
    text = tmp_path / "text.png"
    text.write_text("no picture")
    good = make_files(tmp_path / "data", (3,)).train.paths
    for paths, words in [((str(text),) * 4, "None of"), ((*good, str(text)), 'Only the class "a"')]:
        labels = np.array([0] * (len(paths) - 1) + [1])
        loaded = LoadedData(("a", "b"), FilePart(paths, labels))
        with pytest.raises(DatasetError, match=words) as caught:
            prepare(loaded, shape=(8, 8, 3), fit="crop", recipe=RECIPE, ctx=ctx)
        assert "text.png" in caught.value.where


def test_a_class_with_one_picture_is_reported(tmp_path):
    loaded = make_files(tmp_path / "data", (10, 1))
    data = prepare(
        loaded, shape=(8, 8, 3), fit="crop", recipe=RECIPE, ctx=PlainContext(tmp_path / "c")
    )
    assert 1 in data.train.y
    assert any('"c1" has only one training image' in note for note in data.notes)
    assert any('"c1" has no test image' in note for note in data.notes)


def test_many_odd_classes_are_reported_in_one_sentence(tmp_path):
    loaded = make_files(tmp_path / "data", (10, *[1] * 8))
    data = prepare(
        loaded, shape=(8, 8, 3), fit="crop", recipe=RECIPE, ctx=PlainContext(tmp_path / "c")
    )
    notes = [note for note in data.notes if "only one training image" in note]
    names = '"c1", "c2", "c3", "c4", "c5" and 3 more'
    assert notes == [f"8 classes have only one training image ({names})."]


def test_published_test_part_and_validation_on_it(tmp_path):
    ctx = PlainContext(tmp_path)
    pictures = np.arange(60, dtype=np.uint8)[:, None, None, None] * np.ones((4, 4, 1), np.uint8)
    labels = np.arange(60) % 3
    loaded = LoadedData(
        ("a", "b", "c"),
        ArrayPart(pictures[:45], labels[:45]),
        ArrayPart(pictures[45:], labels[45:]),
    )
    arguments = {"shape": (4, 4, 1), "fit": "crop", "ctx": ctx}
    data = prepare(loaded, **arguments, recipe=TrainingRecipe(validation="test"))
    assert numbers(data.test) == list(range(45, 60))
    assert data.validation is data.test
    assert numbers(data.train) == list(range(45))
    data = prepare(loaded, **arguments, recipe=TrainingRecipe(validation="none"))
    assert data.validation is None
    data = prepare(loaded, **arguments, recipe=TrainingRecipe(validation_share=0.2))
    assert len(data.validation) == 9
    assert numbers(data.test) == list(range(45, 60))


def test_arrays_are_fitted_to_another_shape(tmp_path):
    pictures = np.full((20, 28, 28, 1), 9, np.uint8)
    loaded = LoadedData(("a", "b"), ArrayPart(pictures, np.arange(20) % 2))
    data = prepare(
        loaded, shape=(32, 40, 3), fit="stretch", recipe=RECIPE, ctx=PlainContext(tmp_path)
    )
    assert data.train.x.shape[1:] == (32, 40, 3)
    assert (data.train.x[:] == 9).all()


def test_no_part_is_held_in_memory(tmp_path):
    loaded = make_files(tmp_path / "data", (40, 20))
    data = prepare(
        loaded, shape=(8, 8, 3), fit="crop", recipe=RECIPE, ctx=PlainContext(tmp_path / "cache")
    )
    assert isinstance(data.train.x, StoredRows)
    assert isinstance(data.test.x, StoredRows)
    (stored,) = (tmp_path / "cache" / "pictures").glob("*.npy")
    before = numbers(data.validation)
    stored.unlink()  # pruned by another process: an open file stays
    assert numbers(data.validation) == before


def test_stored_rows_are_read_like_an_array(tmp_path):
    values = np.random.default_rng(0).integers(0, 256, (50, 3, 5, 3), dtype=np.uint8)
    write_rows(tmp_path / "a.npy", values, 50, (3, 5, 3))
    rows, bad = open_rows(tmp_path / "a.npy", 50, (3, 5, 3))
    assert bad == {}
    assert (rows.shape, rows.nbytes, len(rows)) == (values.shape, values.nbytes, 50)
    picked = rows.pick(np.array([7, 8, 9, 3, 3, 49, 0]))
    assert (np.asarray(picked) == values[[7, 8, 9, 3, 3, 49, 0]]).all()
    keys = (slice(5, 21), slice(None, None, 7), np.array([4, 5, 6, 1, 30]), np.arange(50) % 3 == 0)
    for key in keys:
        assert (rows[key] == values[key]).all()
    assert (rows[17] == values[17]).all()
    assert rows[np.zeros(0, np.int64)].shape == (0, 3, 5, 3)


def test_rows_that_became_shorter_are_reported(tmp_path):
    write_rows(tmp_path / "a.npy", np.zeros((9, 4, 4, 3), np.uint8), 9, (4, 4, 3))
    rows, _ = open_rows(tmp_path / "a.npy", 9, (4, 4, 3))
    os.truncate(tmp_path / "a.npy", 300)
    with pytest.raises(DatasetError, match="shorter"):
        rows[np.array([8])]


@pytest.mark.parametrize("cause", ["pinned", "no room"])
def test_streamed_pictures_are_those_of_the_cache(tmp_path, monkeypatch, cause):
    loaded = make_files(tmp_path / "data", (20, 10))
    bad = tmp_path / "bad.png"
    bad.write_text("no picture")
    part = FilePart((str(bad), *loaded.train.paths), np.array([0, *loaded.train.labels]))
    loaded = LoadedData(loaded.class_names, part)
    arguments = {"loaded": loaded, "shape": (8, 8, 3), "fit": "crop"}
    cached = prepare(**arguments, recipe=RECIPE, ctx=PlainContext(tmp_path / "cache"))
    recipe = RECIPE.with_values(pipeline="streamed") if cause == "pinned" else RECIPE
    if cause == "no room":
        monkeypatch.setattr(fitted_module, "has_room", lambda *_: False)
    for _ in range(2):  # checked, and remembered
        streamed = prepare(**arguments, recipe=recipe, ctx=PlainContext(tmp_path / "none"))
        for name in ("train", "validation", "test"):
            one, other = getattr(cached, name), getattr(streamed, name)
            assert isinstance(other.x, FileRows)
            assert (np.asarray(one.x) == np.asarray(other.x)).all()
            assert (one.y == other.y).all()
        assert streamed.bad_files == cached.bad_files
        assert ("Not enough disk space" in " ".join(streamed.notes)) is (cause == "no room")
    assert not list((tmp_path / "none" / "pictures").glob("*.npy"))


def test_pictures_unused_for_a_day_make_room(tmp_path, monkeypatch):
    for name, age_s in [("old", 200_000), ("older", 300_000), ("new", 10)]:
        write_rows(tmp_path / f"{name}.npy", np.zeros((5, 9, 9, 1), np.uint8), 5, (9, 9, 1))
        os.utime(tmp_path / f"{name}.npy", (time.time() - age_s,) * 2)

    def usage(folder):
        return SimpleNamespace(free=1000 - sum(f.stat().st_size for f in folder.glob("*.npy")))

    monkeypatch.setattr(store_module, "SPARE_BYTES", 0)
    monkeypatch.setattr(store_module.shutil, "disk_usage", usage)
    assert not has_room(tmp_path, 900)
    assert [path.name for path in tmp_path.glob("*.npy")] == ["new.npy"]
    assert has_room(tmp_path, 400)


def test_cancelling_leaves_no_half_cache(tmp_path):
    loaded = make_files(tmp_path / "data", (100, 100))
    ctx = PlainContext(tmp_path / "cache", cancel_after=3)
    with pytest.raises(CancelledForTest):
        prepare(loaded, shape=(8, 8, 3), fit="crop", recipe=RECIPE, ctx=ctx)
    assert ctx.reported
    assert list((tmp_path / "cache" / "pictures").iterdir()) == []


def test_a_full_disk_is_reported(tmp_path):
    def rows():
        yield np.zeros((2, 2, 1), np.uint8)
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "pictures" / "a.npy"
    with pytest.raises(DatasetError, match="No space left") as caught:
        write_rows(path, rows(), 2, (2, 2, 1))
    assert "WORKBENCH_HOME" in caught.value.fix
    assert list(path.parent.iterdir()) == []


def test_the_cache_forgets_the_longest_unused(tmp_path):
    for name in ("a", "b", "c"):
        write_rows(tmp_path / f"{name}.npy", [np.zeros((4, 4, 1), np.uint8)] * 10, 10, (4, 4, 1))
        stamp = {"a": 300, "b": 100, "c": 200}[name]
        os.utime(tmp_path / f"{name}.npy", (stamp, stamp))
    prune(tmp_path, keep_bytes=700)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.json", "a.npy", "c.json", "c.npy",
    ]  # fmt: skip
    prune(tmp_path, keep_bytes=1)  # the newest is in use
    assert [path.name for path in tmp_path.glob("*.npy")] == ["a.npy"]
    assert open_rows(tmp_path / "a.npy", 10, (4, 4, 1)) is not None
    assert open_rows(tmp_path / "a.npy", 10, (2, 8, 1)) is None


def test_impossible_shapes_are_refused_before_anything_is_read(tmp_path):
    loaded = LoadedData(("a", "b"), FilePart(("missing",), np.array([0])))
    for shape in [(8, 8, 2), (64,)]:
        with pytest.raises(PictureError, match="shape"):
            prepare(loaded, shape=shape, fit="crop", recipe=RECIPE, ctx=PlainContext(tmp_path))


def test_thumbnails_of_each_class(tmp_path):
    loaded = make_files(tmp_path / "data", (5, 1), side=200)
    files = write_thumbnails(loaded.train, 3, tmp_path / "out", per_class=2, size=50)
    assert [len(found) for found in files] == [2, 1, 0]
    assert decode_picture(files[0][0].path).shape == (49, 50, 3)
    assert {each.full_size for found in files for each in found} == {(200, 204)}
    assert files == write_thumbnails(loaded.train, 3, tmp_path / "out", per_class=2, size=50)


def test_listing_looks_at_names_and_contents(tmp_path):
    for name in ("img10.png", "img2.PNG", "IMG1.png", "bare"):
        write_png(tmp_path / name, np.zeros((2, 2, 3), np.uint8))
    for name in ("._img2.png", "Thumbs.db", ".DS_Store", ".hidden.png", "notes.txt", "text.jpg"):
        (tmp_path / name).write_text("no picture")
    inner = tmp_path / "inner"
    write_png(inner / "deep.png", np.zeros((2, 2, 3), np.uint8))
    (inner / "loop").symlink_to(tmp_path)
    for circle in (tmp_path / "circle.png", inner / "circle.png"):
        circle.symlink_to(circle.name)
    names = ["bare", "IMG1.png", "img2.PNG", "img10.png", "text.jpg"]
    assert [path.name for path in list_pictures(tmp_path)] == names
    deep = [path.name for path in list_pictures(tmp_path, is_deep=True)]
    assert deep == ["bare", "IMG1.png", "img2.PNG", "img10.png", "text.jpg", "deep.png"]
    with pytest.raises(DatasetError, match="cannot be listed"):
        list_pictures(tmp_path / "missing")


def test_bad_files_are_named_in_plain_text(tmp_path):
    loaded = make_files(tmp_path / "data", (5, 5))
    bad = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.png")
    Path(bad).write_text("no picture")
    part = FilePart((*loaded.train.paths, bad), np.array([*loaded.train.labels, 1]))
    data = prepare(
        LoadedData(loaded.class_names, part),
        shape=(8, 8, 3),
        fit="crop",
        recipe=RECIPE,
        ctx=PlainContext(tmp_path / "cache"),
    )
    assert data.bad_files[0][0].endswith("\\udcff.png")
    assert data.bad_files[0][0].encode("utf-8")


def test_leftovers_of_killed_processes_are_removed_after_a_day(tmp_path):
    for name, age_s in [(".preparing-old", 100_000), (".preparing-new", 0), ("kept", 100_000)]:
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    write_rows(tmp_path / "a.npy", [np.zeros((1, 1, 1), np.uint8)], 1, (1, 1, 1))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".preparing-new", "a.json", "a.npy", "kept",
    ]  # fmt: skip


def test_a_published_validation_part_is_used_where_one_is_held_out(tmp_path):
    loaded = make_files(tmp_path / "data", (10, 10))
    given = make_files(tmp_path / "given", (2, 3)).train
    loaded = replace(loaded, validation=given)
    arguments = {"shape": (8, 8, 3), "fit": "crop", "ctx": PlainContext(tmp_path / "cache")}
    data = prepare(loaded, recipe=RECIPE, **arguments)
    assert data.validation.y.tolist() == given.labels.tolist()
    assert len(data.train) + len(data.test) == 20
    assert data.notes == ()
    for validation in ("test", "none"):
        data = prepare(loaded, recipe=RECIPE.with_values(validation=validation), **arguments)
        assert len(data.train) + len(data.test) == 20
        assert "5 validation images, which this recipe does not use" in data.notes[0]
