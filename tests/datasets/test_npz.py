"""Numpy files: every usual form is read, every hostile one refused with flat memory."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contexts import CancelledForTest, PlainContext
from workbench.core.specs import LoadedData
from workbench.datasets import all_datasets
from workbench.datasets._npz_file import read_members
from workbench.errors import DatasetError

RNG = np.random.default_rng(5)
GREY = RNG.integers(0, 256, (12, 6, 5), np.uint8)
COLOUR = RNG.integers(0, 256, (12, 6, 5, 3), np.uint8)
LABELS = np.arange(12) % 3


def load(folder: Path, **arrays) -> LoadedData:
    np.savez_compressed(folder / "data.npz", **arrays)
    return load_file(folder / "data.npz", PlainContext(folder / "cache"))


def load_file(path: Path, ctx: PlainContext) -> LoadedData:
    return all_datasets()["npz"].load(ctx, {"path": str(path)})


def test_train_and_test(tmp_path):
    data = load(
        tmp_path, x_train=COLOUR[:8], y_train=LABELS[:8], x_test=COLOUR[8:], y_test=LABELS[8:]
    )
    assert (data.train.pictures == COLOUR[:8]).all()
    assert (data.test.pictures == COLOUR[8:]).all()
    assert data.test.labels.tolist() == LABELS[8:].tolist()
    assert data.train.labels.dtype == np.int64
    assert data.class_names == ("0", "1", "2")
    assert data.notes == ()


@pytest.mark.parametrize(
    "keys", [("x", "y"), ("X", "y"), ("images", "labels"), ("x_train", "y_train")]
)
def test_names_of_one_part(tmp_path, keys):
    data = load(tmp_path, **{keys[0]: GREY, keys[1]: LABELS[:, None]})
    assert (data.train.pictures[..., 0] == GREY).all()
    assert data.test is None


def test_channels_first_and_fortran_order(tmp_path):
    moved = np.asfortranarray(np.moveaxis(COLOUR, -1, 1))
    data = load(tmp_path, x=moved, y=LABELS)
    assert (data.train.pictures == COLOUR).all()
    assert "channels came first" in data.notes[0]


@pytest.mark.parametrize(
    ("values", "expected", "note"),
    [
        (np.array([0, 16], np.uint8), [0, 255], "0 to 16"),
        (np.array([0, 1], np.uint8), [0, 255], "0 to 1"),
        (np.array([False, True]), [0, 255], "0 to 1"),
        (np.array([0.0, 0.5, 1.0], np.float32), [0, 128, 255], "0 to 1"),
        (np.array([-1.0, 0.0, 1.0]), [0, 128, 255], "-1 to 1"),
        (np.array([0.0, 100.4, 254.6]), [0, 100, 255], ""),
        (np.array([0, 200], np.int64), [0, 200], ""),
        (np.array([0, 65_535], np.uint16), [0, 255], "65,535"),
    ],
)
def test_values_are_scaled_with_a_note(tmp_path, values, expected, note):
    pictures = np.resize(values, (12, 4, len(values)))
    data = load(tmp_path, x=pictures, y=LABELS)
    assert data.train.pictures[0, 0, :, 0].tolist() == expected
    assert note in " ".join(data.sentences)


@pytest.mark.parametrize(
    ("labels", "numbers", "names"),
    [
        (np.array(list("cab") * 4), [2, 0, 1], ("a", "b", "c")),
        (np.array([b"no", b"yes"] * 6), [0, 1, 0], ("no", "yes")),
        (np.eye(4)[np.arange(12) % 3], [0, 1, 2], ("0", "1", "2", "3")),
        (np.array([10, 20, 30] * 4), [0, 1, 2], ("10", "20", "30")),
        (np.array([0.0, 1.0, 2.0] * 4), [0, 1, 2], ("0", "1", "2")),
        (np.array([True, False] * 6), [1, 0, 1], ("0", "1")),
        (np.array(["a\x1b[2J\n", "\u202eb"] * 6), [0, 1, 0], ("a?[2J?", "?b")),
    ],
)
def test_labels(tmp_path, labels, numbers, names):
    data = load(tmp_path, x=GREY, y=labels)
    assert data.train.labels[:3].tolist() == numbers
    assert data.class_names == names


def test_class_names_of_the_file(tmp_path):
    data = load(tmp_path, x=GREY, y=LABELS, class_names=np.array(["cat", "dog", "cow", "ox"]))
    assert data.class_names == ("cat", "dog", "cow", "ox")


@pytest.mark.parametrize(
    ("arrays", "what", "received"),
    [
        ({"a": GREY, "b": LABELS}, "under known names", "a uint8 (12, 6, 5)"),
        ({}, "under known names", "no arrays"),
        ({"x": GREY}, "under known names", "x uint8"),
        ({"x": GREY, "y": LABELS[:5]}, "numbers of images and labels differ", "(12, 6, 5)"),
        ({"x": GREY.reshape(12, 30), "y": LABELS}, "not images", "(12, 30)"),
        ({"x": np.zeros((12, 64), np.uint8), "y": LABELS}, "not images", "(12, 64)"),
        ({"x": GREY[..., None, None], "y": LABELS}, "not images", "(12, 6, 5, 1, 1)"),
        ({"x": np.zeros((0, 4, 4)), "y": np.zeros(0)}, "not images", "(0, 4, 4)"),
        ({"x": np.array([["a"] * 3] * 12)[..., None], "y": LABELS}, "text", "U1"),
        ({"x": GREY * 1000.0, "y": LABELS}, "not pixel values", "values from"),
        ({"x": GREY - 100.0, "y": LABELS}, "not pixel values", "values from -"),
        ({"x": GREY * np.nan, "y": LABELS}, "not finite", "NaN"),
        ({"x": GREY, "y": LABELS + 0.5}, "not labels", "float64 (12,)"),
        ({"x": GREY, "y": np.ones((12, 3))}, "not labels", "float64 (12, 3)"),
        ({"x": GREY, "y": LABELS * 0}, "only one class", "12 labels are 0"),
        ({"x": GREY, "y": LABELS, "class_names": np.array(["a", "b"])}, "do not match", "0 to 2"),
        ({"x": GREY, "y": LABELS, "class_names": np.eye(3)}, "not a list of strings", "float64"),
        (
            {"x_train": GREY, "y_train": LABELS, "x_test": COLOUR, "y_test": LABELS},
            "differ in size",
            "(6, 5, 3)",
        ),
    ],
)
def test_mistakes(tmp_path, arrays, what, received):
    with pytest.raises(DatasetError, match=what) as caught:
        load(tmp_path, **arrays)
    assert received in caught.value.received
    assert caught.value.where.startswith(str(tmp_path / "data.npz"))
    assert caught.value.expected
    entries = list((tmp_path / "cache" / "arrays").iterdir())
    assert entries == []  # nothing half-made


def test_a_flat_square_is_refused_with_how_to_reshape(tmp_path):
    with pytest.raises(DatasetError) as caught:
        load(tmp_path, x=np.zeros((12, 784), np.uint8), y=LABELS)
    assert "reshape(-1, 28, 28)" in caught.value.fix


def test_paths(tmp_path):
    ctx = PlainContext(tmp_path / "cache")
    for path, words in [
        (tmp_path / "no.npz", "no such file"),
        (tmp_path, "folder, not a file"),
        (tmp_path / ("x" * 300), "cannot be opened"),
    ]:
        with pytest.raises(DatasetError, match=words):
            load_file(path, ctx)
    with pytest.raises(DatasetError, match="No file has been chosen"):
        all_datasets()["npz"].load(ctx, {"path": ""})


class Bomb:
    def __reduce__(self):
        return (Path.touch, (Path("pickle-was-run"),))


def test_pickles_are_never_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match="could run code"):
        load(tmp_path, x=GREY, y=np.array([Bomb()] * 12, dtype=object))
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(DatasetError, match="damaged or not a NumPy"):
        load_file(tmp_path / "plain.npz", PlainContext(tmp_path / "cache"))
    assert not (tmp_path / "pickle-was-run").exists()


def npy(header: bytes, data: bytes = b"", version: int = 1) -> bytes:
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


HOSTILE = {
    "terabytes": npy(b"{'descr': '|u1', 'fortran_order': False, 'shape': (4, 10**6, 10**6)}"),
    "terabytes written out": npy(
        b"{'descr': '|u1', 'fortran_order': False, 'shape': (4, 1000000, 1000000)}"
    ),
    "negative": npy(b"{'descr': '|u1', 'fortran_order': False, 'shape': (-4, 2, 2)}"),
    "overflow": npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2**62, 8)}"),
    "overflow written out": npy(
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 4611686018427387904, 8)}"
    ),
    "long header": npy(b" " * 4_000_000, version=2),
    "deep header": npy(b"(" * 9_000),
    "not a dictionary": npy(b"[1, 2]"),
    "no keys": npy(b"{}"),
    "objects": npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"\x80\x04N."),
    "records": npy(b"{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,)}"),
    "odd type": npy(b"{'descr': 'nonsense', 'fortran_order': False, 'shape': (1,)}"),
    "shape is text": npy(b"{'descr': '|u1', 'fortran_order': False, 'shape': 'abc'}"),
    "shape is true": npy(b"{'descr': '|u1', 'fortran_order': False, 'shape': (True,)}", b"a"),
    "call": npy(b"__import__('os').abort()"),
    "short data": npy(b"{'descr': '|u1', 'fortran_order': False, 'shape': (4, 9, 9)}", b"abc"),
    "version 9": npy(b"{}", version=9),
    "empty": b"",
    "no numpy": b"hello",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers(tmp_path, name):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("x.npy", HOSTILE[name])
        file.writestr(
            "y.npy", npy(b"{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}", b"abcd")
        )
    with pytest.raises(DatasetError) as caught:
        load_file(path, PlainContext(tmp_path / "cache"))
    assert "a.npz" in caught.value.where
    assert len(str(caught.value)) < 700


def test_what_would_fill_the_disk_is_refused_first(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros((600, 100, 100), np.uint8), y=np.zeros(600))
    free = type("Usage", (), {"free": 1_000_000})()
    monkeypatch.setattr("workbench.datasets._npz_file.shutil.disk_usage", lambda _: free)
    with pytest.raises(DatasetError, match="Not enough disk space"):
        load_file(tmp_path / "a.npz", PlainContext(tmp_path / "cache"))


def test_member_names_are_never_paths(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, x=GREY, y=LABELS)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(
            "../../evil.npy", npy(b"{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", b"a")
        )
    assert "../../evil" in read_members(path)
    load_file(path, PlainContext(tmp_path / "deep" / "er" / "cache"))
    assert not list(tmp_path.rglob("*evil*"))


def test_too_many_members(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as file:
        for number in range(1_001):
            file.writestr(f"{number}.npy", b"")
    with pytest.raises(DatasetError) as caught:
        read_members(path)
    assert "1,001 arrays" in caught.value.received


@given(data=st.data())
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_damaged_files_end_in_words_or_load(tmp_path, data):
    path = tmp_path / "fuzz.npz"
    np.savez_compressed(path, x=GREY, y=LABELS)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    path.write_bytes(content[:cut])
    loaded = None
    with contextlib.suppress(DatasetError):
        loaded = load_file(path, PlainContext(tmp_path / "cache"))
    if loaded is not None:  # the damage hit what does not matter
        assert (loaded.train.pictures[..., 0] == GREY).all()


def test_the_cache_follows_the_file(tmp_path):
    first = load(tmp_path, x=GREY, y=LABELS)
    ctx = PlainContext(tmp_path / "cache")
    load_file(tmp_path / "data.npz", ctx)
    assert ctx.reported == []  # mapped, not unpacked
    second = load(tmp_path, x=255 - GREY, y=LABELS)
    assert (second.train.pictures[..., 0] == 255 - GREY).all()
    assert (first.train.pictures[..., 0] == GREY).all()  # an open map stays valid without its entry
    assert len(list((tmp_path / "cache" / "arrays").iterdir())) == 1


def test_the_longest_unused_sources_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.datasets._array_cache.KEEP_ENTRIES", 2)
    folder = tmp_path / "cache" / "arrays"
    for number in range(4):
        np.savez(tmp_path / f"{number}.npz", x=GREY, y=LABELS)
        load_file(tmp_path / f"{number}.npz", PlainContext(tmp_path / "cache"))
        if number < 2:  # used long ago, the first longer ago
            for path in folder.iterdir():
                os.utime(path, (path.stat().st_mtime - 100_000,) * 2)
    assert len(list(folder.iterdir())) == 2  # of the last day
    ctx = PlainContext(tmp_path / "cache")
    load_file(tmp_path / "3.npz", ctx)
    assert ctx.reported == []
    load_file(tmp_path / "0.npz", ctx)
    assert ctx.reported


def test_a_damaged_entry_is_made_again(tmp_path):
    load(tmp_path, x=GREY, y=LABELS)
    (entry,) = (tmp_path / "cache" / "arrays").iterdir()
    (entry / "x_train.npy").write_bytes(b"\x93NUMPY damaged")
    data = load_file(tmp_path / "data.npz", PlainContext(tmp_path / "cache"))
    assert (data.train.pictures[..., 0] == GREY).all()


def test_unpacking_can_be_cancelled(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros((500, 200, 200), np.uint8), y=np.arange(500))
    ctx = PlainContext(tmp_path / "cache", cancel_after=2)
    with pytest.raises(CancelledForTest):
        load_file(tmp_path / "a.npz", ctx)
    assert ctx.reported[-1][0].startswith("Unpacking a.npz: ")
    assert list((tmp_path / "cache" / "arrays").iterdir()) == []


def test_digits(shared_data, tmp_path):
    data = load_file(shared_data / "digits.npz", PlainContext(tmp_path))
    assert data.train.pictures.shape == (1797, 8, 8, 1)
    assert data.train.pictures.max() == 255
    assert data.class_names == tuple("0123456789")


def test_cifar10_is_whole_and_has_its_class_names(shared_data, tmp_path):
    data = load_file(shared_data / "cifar10.npz", PlainContext(tmp_path))
    assert hashlib.sha256(data.train.pictures.tobytes()).hexdigest().startswith("47af8b02cfcfb6cd")
    assert hashlib.sha256(data.test.pictures.tobytes()).hexdigest().startswith("f9b1e2130bab680d")
    assert data.class_names[data.test.labels[111]] == "airplane"
    assert zlib.crc32(data.test.labels.astype(np.uint8).tobytes()) == zlib.crc32(
        np.load(shared_data / "cifar10.npz")["y_test"].tobytes()
    )


def load_with(folder: Path, params: dict[str, str], **arrays) -> LoadedData:
    np.savez_compressed(folder / "data.npz", **arrays)
    spec = all_datasets()["npz"]
    return spec.load(PlainContext(folder / "cache"), {"path": str(folder / "data.npz"), **params})


def test_the_color_axis_can_be_set_where_the_shape_fits_both(tmp_path):
    pictures = np.moveaxis(COLOUR[:, :, :3], -1, 1)  # (12, 3, 6, 3)
    data = load(tmp_path, x=pictures, y=LABELS)
    (axis,) = (each for each in data.inferences if each.key == "channels")
    assert (axis.value, axis.is_doubtful, axis.options[0].value) == ("last", True, "first")
    assert (data.train.pictures == pictures).all()
    first = load_with(tmp_path, {"channels": "first"}, x=pictures, y=LABELS)
    assert (first.train.pictures == COLOUR[:, :, :3]).all()
    (axis,) = (each for each in first.inferences if each.key == "channels")
    assert axis.is_told


def test_arrays_are_set_by_name(tmp_path):
    arrays = {"a": GREY, "b": LABELS, "c": GREY[:5], "d": LABELS[:5], "e": 2 - LABELS}
    both = load_with(tmp_path, {"images": "a, c", "labels": "b, d"}, **arrays)
    assert (len(both.train), len(both.test)) == (12, 5)
    assert both.notes == ("Arrays not used: e int64 (12,).",)
    for params, words in [
        ({"images": "a", "labels": "b,d"}, "do not pair"),
        ({"images": "a", "labels": "gone"}, "no such array"),
        ({"labels": "e"}, "known names"),
    ]:
        with pytest.raises(DatasetError, match=words):
            load_with(tmp_path, params, **arrays)
    other = load_with(tmp_path, {"labels": "e"}, x=GREY, y=LABELS, e=2 - LABELS)
    assert other.train.labels.tolist() == (2 - LABELS).tolist()
    same = load_with(tmp_path, {"labels": "y"}, x=GREY, y=LABELS, x_test=GREY, y_test=LABELS)
    assert len(same.test) == 12


def test_class_names_keep_their_order(tmp_path):
    text = np.array(["b", "a", "c"] * 4)
    data = load(tmp_path, x=GREY, y=text, class_names=np.array(["c", "b", "a", "d"]))
    assert data.class_names == ("c", "b", "a")
    assert data.train.labels[:3].tolist() == [1, 2, 0]
    numbers = load(tmp_path, x=GREY, y=LABELS + 1, class_names=np.array([7, 8, 9]))
    assert numbers.class_names == ("7", "8", "9")
    assert numbers.train.labels.tolist() == LABELS.tolist()


def doubt(data: LoadedData, key: str):
    """The only inference of a kind, which is doubtful."""
    (found,) = (each for each in data.inferences if each.key == key)
    assert found.is_doubtful
    return found


POLISH = ("łaba", "pies", "żaba")


def test_bytes_that_are_no_utf8_keep_their_classes(tmp_path):
    bytes_of = [name.encode("cp1250") for name in POLISH]
    arrays = {"x": GREY, "y": np.array(bytes_of * 4)}
    data = load(tmp_path, **arrays)
    assert (len(data.class_names), np.bincount(data.train.labels).tolist()) == (3, [4, 4, 4])
    assert set(data.class_names) == set(POLISH)
    assert "cp1251" in [each.value for each in doubt(data, "encoding").options]
    told = load_with(tmp_path, {"encoding": "cp1250"}, **arrays)
    assert set(told.class_names) == set(POLISH)
    assert not [each for each in told.inferences if each.is_doubtful]
    with pytest.raises(DatasetError, match="no text") as caught:
        load_with(tmp_path, {"encoding": "utf-8"}, **arrays)
    assert "UTF-8" in caught.value.fix
    names = load_with(
        tmp_path, {"encoding": "cp1250"}, x=GREY, y=LABELS, class_names=np.array(bytes_of)
    )
    assert names.class_names == POLISH


def test_bytes_that_would_become_one_class_are_refused(tmp_path):
    with pytest.raises(DatasetError, match="no text"):  # \xad is a mark that is not seen
        load(tmp_path, x=GREY, y=np.array([b"a\xadb", b"ab", b"\xff"] * 4))


def test_letters_that_were_lost_are_a_doubt(tmp_path):
    data = load(tmp_path, x=GREY, y=np.array(["\ufffdaba", "pies"] * 6))
    assert "Letters were lost" in doubt(data, "encoding").doubt


@pytest.mark.parametrize(
    ("train", "test", "words"),
    [
        (LABELS, LABELS + 1, "count from 1"),
        (LABELS, np.array([0, 7] * 6), "different ways"),
        (np.array(["a", "b", "c"] * 4), np.array(["A1", "b"] * 6), "different ways"),
        (LABELS, np.array([3, 4, 5, 6, 7, 8] * 2), "different ways"),
    ],
)
def test_classes_of_the_test_part_alone_are_a_doubt(tmp_path, train, test, words):
    data = load(tmp_path, x_train=GREY, y_train=train, x_test=GREY, y_test=test)
    found = doubt(data, "untrained_classes")
    assert words in found.doubt
    lost = sorted(set(data.test.labels.tolist()) - set(data.train.labels.tolist()))
    assert all(data.class_names[each] in found.value for each in lost[:3])


def test_text_and_numbers_are_not_joined(tmp_path):
    text = np.array(["cat", "dog", "owl"] * 4)
    with pytest.raises(DatasetError, match="text, and those of another") as caught:
        load(tmp_path, x_train=GREY, y_train=text, x_test=GREY, y_test=LABELS)
    assert caught.value.received == "train: cat, dog, owl; test: 0, 1, 2"
    digits = load(tmp_path, x_train=GREY, y_train=LABELS, x_test=GREY, y_test=LABELS.astype(str))
    assert digits.test.labels.tolist() == LABELS.tolist()


def test_what_labels_of_names_count_from(tmp_path):
    arrays = {"x": GREY, "y": LABELS + 1, "class_names": np.array(["a", "b", "c", "d"])}
    data = load(tmp_path, **arrays)
    assert data.train.labels[:3].tolist() == [1, 2, 3]
    assert doubt(data, "label_start").options[0].value == "1"
    told = load_with(tmp_path, {"first_label": "1"}, **arrays)
    assert told.train.labels[:3].tolist() == [0, 1, 2]
    assert not [each for each in told.inferences if each.is_doubtful]
    late = load(tmp_path, x=GREY, y=LABELS + 2, class_names=np.array(["a", "b", "c", "d"]))
    assert late.train.labels[:3].tolist() == [1, 2, 3]  # 4 names, and labels up to 4
    assert "first class, “a”" in doubt(late, "label_start").doubt
    with pytest.raises(DatasetError, match="do not match") as caught:
        load_with(tmp_path, {"first_label": "0"}, **{**arrays, "y": LABELS + 2})
    assert "missing=-1" in caught.value.fix


@pytest.mark.parametrize("word", ["nan", "None", "", "?", "N/A"])
def test_words_for_a_missing_label_are_no_class(tmp_path, word):
    text = np.array(["cat", "dog", word] * 4)
    data = load(tmp_path, x=GREY, y=text)
    assert data.class_names == ("cat", "dog")
    assert (data.train.pictures[..., 0] == GREY[LABELS < 2]).all()
    found = doubt(data, "missing_labels")
    assert "4 images, not used" in found.evidence
    same = load_with(tmp_path, {"missing": found.options[0].value}, x=GREY, y=text)
    assert len(same.class_names) == 3
    named = load(tmp_path, x=GREY, y=text, class_names=np.array(["cat", "dog", word or "x"]))
    assert len(named.class_names) == (3 if word else 2)


@pytest.mark.parametrize("number", [-1, -99, -999, 255, np.iinfo(np.int64).min])
def test_numbers_that_often_mean_no_label_are_a_doubt(tmp_path, number):
    labels = np.where(LABELS == 2, number, LABELS)
    data = load(tmp_path, x=GREY, y=labels)
    found = doubt(data, "missing_labels")
    assert (len(data.class_names), found.evidence) == (3, "4 images")
    without = load_with(tmp_path, {"missing": found.options[0].value}, x=GREY, y=labels)
    assert (without.class_names, len(without.train)) == (("0", "1"), 8)
    assert not [each for each in without.inferences if each.is_doubtful]


def test_a_part_without_labels_is_not_used(tmp_path):
    arrays = {"x_train": GREY, "y_train": LABELS, "x_test": GREY, "y_test": LABELS * 0 - 1}
    data = load_with(tmp_path, {"missing": "-1"}, **arrays)
    assert data.test is None
    assert "The test part has no labels and is not used." in data.notes
    with pytest.raises(DatasetError, match="No training image"):
        load_with(tmp_path, {"missing": "0,1,2"}, **arrays)


@pytest.mark.parametrize("words", [["Cat", "cat", "dog"], ["1", "1.0", "2"], ["01", "1", "2"]])
def test_labels_of_nearly_one_name_can_be_one_class(tmp_path, words):
    arrays = {"x": GREY, "y": np.array(words * 4)}
    data = load(tmp_path, **arrays)
    found = doubt(data, "look_alikes")
    assert len(data.class_names) == 3
    merged = load_with(tmp_path, {found.param: found.options[0].value}, **arrays)
    assert np.bincount(merged.train.labels).tolist() == [8, 4]


def test_digits_as_text_are_in_the_order_of_numbers(tmp_path):
    data = load(tmp_path, x=GREY, y=np.array(["10", "2", "1"] * 4))
    assert data.class_names == ("1", "2", "10")
    assert "class_order" in [each.key for each in data.inferences]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.array([0.0, 1.0, np.nan] * 4), "4 labels are NaN"),
        (np.array([0.5, 1.0, 2.0] * 4), "Regression"),
        (np.array([[1, 1, 0], [0, 1, 0]] * 6), "Several labels an image"),
        (np.zeros((12, 2, 2)), "Choose another array"),
        (np.arange(24).reshape(12, 2), "Choose another array"),
    ],
)
def test_refused_labels_say_what_to_do(tmp_path, labels, words):
    with pytest.raises(DatasetError, match="not labels") as caught:
        load(tmp_path, x=GREY, y=labels)
    assert words in caught.value.fix


def test_one_hot_rows_of_fewer_columns_than_labels(tmp_path):
    data = load(tmp_path, x_train=GREY, y_train=np.eye(3)[LABELS], x_test=GREY, y_test=LABELS + 1)
    assert data.class_names == ("0", "1", "2", "3")
    assert doubt(data, "untrained_classes").value == "“3”"


@pytest.mark.parametrize(
    ("arrays", "value"),
    [
        ({"split": np.array(["train"] * 6 + ["test"] * 4)}, "split"),
        ({"subset": np.array([b"train"] * 6 + [b"valid"] * 4)}, "subset"),
        ({"is_train": np.arange(10) < 6}, "is_train"),
        ({"isTest": np.array([0] * 6 + [1] * 4)}, "isTest"),
        ({"train_idx": np.arange(6), "test_idx": np.arange(6, 10)}, "train_idx, test_idx"),
        ({"train_mask": np.arange(10) < 6, "val_mask": np.arange(10) > 5}, "train_mask, val_mask"),
    ],
)
def test_an_array_says_the_parts(tmp_path, arrays, value):
    images = np.zeros((10, 4, 4, 3), np.uint8)
    images[:, 0, 0, 0], images[:, 1] = np.arange(10), 255
    given = {"images": images, "labels": np.arange(10) % 2, **arrays}
    data = load(tmp_path, **given)
    other = data.test or data.validation
    assert (len(data.train), len(other)) == (6, 4)
    assert np.asarray(other.pictures)[:, 0, 0, 0].tolist() == [6, 7, 8, 9]
    assert np.asarray(other.labels).tolist() == [0, 1, 0, 1]
    (found,) = (each for each in data.inferences if each.key == "split_array")
    assert (found.value, found.is_doubtful, data.notes) == (value, False, ())
    whole = load_with(tmp_path, {found.param: found.options[0].value}, **given)
    assert (len(whole.train), whole.test) == (10, None)


@pytest.mark.parametrize(
    "arrays",
    [
        {"split": np.arange(10) % 3},
        {"train_idx": np.arange(1, 7), "test_idx": np.arange(7, 11)},
        {"train_idx": np.arange(6), "test_idx": np.arange(5, 10)},
    ],
)
def test_an_array_that_may_say_the_parts_is_a_doubt(tmp_path, arrays):
    images = np.arange(10 * 48, dtype=np.uint8).reshape(10, 4, 4, 3)
    data = load(tmp_path, images=images, labels=np.arange(10) % 2, **arrays)
    assert (len(data.train), data.test) == (10, None)
    assert doubt(data, "split_array").value == "none"


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.zeros(4, np.complex64), "complex numbers"),
        (np.zeros(4, "M8[D]"), "dates"),
        (np.zeros(4, [("a", "i4"), ("b", "U3")]), "several fields"),
        (np.array(["cat", 1, "dog", None], object), "Python objects"),
    ],
)
def test_other_kinds_of_arrays_are_named(tmp_path, labels, words):
    images = np.zeros((4, 4, 4, 3), np.uint8)
    with pytest.raises(DatasetError, match=words):
        load(tmp_path, images=images, labels=labels)


def test_the_labels_show_that_the_images_are_the_last_axis(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (12, 6, 5, 3), np.uint8)
    data = load(tmp_path, X=np.moveaxis(images, 0, -1), y=LABELS[:, None])
    assert np.array_equal(np.asarray(data.train.pictures), images)
    assert "last axis" in " ".join(data.notes)


@pytest.mark.parametrize("name", ["labels", "coarse_labels"])
def test_fine_labels_are_taken_with_a_doubt(tmp_path, name):
    fine = {"fine_labels": LABELS, name: LABELS // 2}
    (found,) = (e for e in load(tmp_path, x=GREY, **fine).inferences if e.key == "arrays")
    assert found.is_doubtful
    assert "fine_labels" in (*found.value.split(), *(each.value for each in found.options))


def test_short_words_for_parts_and_a_row_of_labels(tmp_path):
    data = load(tmp_path, Xtr=GREY, Ytr=LABELS[None], Xte=GREY, Yte=LABELS)
    assert (len(data.train), len(data.test)) == (12, 12)
