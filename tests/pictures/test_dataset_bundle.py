"""A data set packed for another computer gives the same pictures there."""

from __future__ import annotations

import hashlib
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contexts import CancelledForTest, PlainContext
from workbench.core.specs import ArrayPart, FilePart, LoadedData
from workbench.datasets import all_datasets
from workbench.errors import DatasetError, SaveError
from workbench.pictures.dataset_bundle import pack, unpacked


def there(archive, folder):
    """As the other computer unpacks it."""
    with zipfile.ZipFile(archive) as packed:
        for name in packed.namelist():
            packed.extract(name, folder)
    return unpacked(folder)


def pictures_of(part):
    if isinstance(part, ArrayPart):
        return np.asarray(part.pictures)
    return [Path(path).read_bytes() for path in part.paths]


def check_same(one, other):
    assert type(one) is type(other)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert other.labels.dtype == np.int64
    if isinstance(one, ArrayPart):
        np.testing.assert_array_equal(pictures_of(one), pictures_of(other))
    else:
        assert pictures_of(one) == pictures_of(other)


@given(count=st.integers(0, 5), channels=st.sampled_from([1, 3]), has_test=st.booleans())
@settings(max_examples=20)
def test_arrays_come_back_as_they_were(tmp_path_factory, count, channels, has_test):
    folder = tmp_path_factory.mktemp("parcel")
    random = np.random.default_rng(count)
    part = ArrayPart(
        random.integers(0, 256, (count, 3, 4, channels), np.uint8),
        random.integers(0, 9, count, np.int64),
    )
    data = LoadedData(("a", "ä b"), part, part if has_test else None, (("x", "y"),), ("note",))
    pack(data, folder / "p.zip", PlainContext(folder))
    back = there(folder / "p.zip", folder / "there")
    assert (back.class_names, back.bad_files, back.notes) == (
        data.class_names,
        data.bad_files,
        data.notes,
    )
    check_same(data.train, back.train)
    assert (back.test is not None) == has_test


def files_part(folder, names):
    paths = []
    for number, name in enumerate(names):
        path = folder / f"{number}" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(os.urandom(50 + number))
        paths.append(str(path))
    return FilePart(tuple(paths), np.arange(len(names), dtype=np.int64))


def test_files_come_back_byte_for_byte_whatever_their_names(tmp_path):
    names = ["a.jpg", "ä ö.PNG", "no ending", "x.$(touch PWN)", "..jpg", "a.jpg.", "a\nb.png"]
    data = LoadedData(("a",), files_part(tmp_path / "here", names))
    pack(data, tmp_path / "p.zip", PlainContext(tmp_path))
    back = there(tmp_path / "p.zip", tmp_path / "there")
    check_same(data.train, back.train)
    assert [Path(p).name for p in back.train.paths[:3]] == [
        "0000000.jpg",
        "0000001.PNG",
        "0000002",
    ]


def test_the_same_pictures_have_the_same_name(tmp_path):
    data = LoadedData(("a",), files_part(tmp_path / "here", ["a.jpg", "b.jpg"]))
    first = pack(data, tmp_path / "1.zip", PlainContext(tmp_path))
    for path in data.train.paths:
        os.utime(path, (1, 1))
    assert pack(data, tmp_path / "2.zip", PlainContext(tmp_path)) == first
    assert hashlib.sha256((tmp_path / "1.zip").read_bytes()).hexdigest() == first
    other = LoadedData(("b",), data.train)
    assert pack(other, tmp_path / "3.zip", PlainContext(tmp_path)) != first


@pytest.mark.parametrize("key", ["fashion_mnist"])
def test_a_bundled_source_survives(tmp_path, key):
    spec = all_datasets()[key]
    params = {param.key: param.default for param in spec.params}
    data = spec.load(PlainContext(tmp_path), params)
    some = ArrayPart(data.train.pictures[:1000], data.train.labels[:1000])
    data = replace(data, train=some, test=some)
    pack(data, tmp_path / "p.zip", PlainContext(tmp_path))
    back = there(tmp_path / "p.zip", tmp_path / "there")
    assert back.class_names == data.class_names
    check_same(data.train, back.train)
    check_same(data.test, back.test)


def test_packing_can_be_cancelled(tmp_path):
    data = LoadedData(("a",), files_part(tmp_path / "here", ["a.jpg"]))
    with pytest.raises(CancelledForTest):
        pack(data, tmp_path / "p.zip", PlainContext(tmp_path, cancel_after=0))


def test_a_missing_picture_is_named(tmp_path):
    data = LoadedData(("a",), FilePart((str(tmp_path / "gone.jpg"),), np.zeros(1, np.int64)))
    with pytest.raises(DatasetError) as caught:
        pack(data, tmp_path / "p.zip", PlainContext(tmp_path))
    assert "gone.jpg" in caught.value.where


def test_a_place_that_cannot_be_written_is_reported(tmp_path):
    data = LoadedData(("a",), files_part(tmp_path / "here", ["a.jpg"]))
    with pytest.raises(SaveError):
        pack(data, tmp_path / "none" / "p.zip", PlainContext(tmp_path))


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "index.json").unlink(),
        lambda folder: (folder / "index.json").write_text("[]"),
        lambda folder: (folder / "index.json").write_text("{"),
        lambda folder: (folder / "index.json").write_text(
            (folder / "index.json").read_text().replace('"version":2', '"version":3')
        ),
        lambda folder: (folder / "index.json").write_text(
            (folder / "index.json").read_text().replace('".jpg"', '"/../../../etc/passwd"')
        ),
        lambda folder: (folder / "train" / "labels.npy").write_bytes(b"\x93NUMPY"),
        lambda folder: np.save(folder / "train" / "labels.npy", np.zeros(5, np.int64)),
        lambda folder: np.save(folder / "train" / "labels.npy", np.zeros(1, np.float32)),
        lambda folder: np.save(folder / "train" / "labels.npy", np.array([{}]), allow_pickle=True),
    ],
)
def test_what_is_damaged_is_refused(tmp_path, damage):
    data = LoadedData(("a",), files_part(tmp_path / "here", ["a.jpg"]))
    pack(data, tmp_path / "p.zip", PlainContext(tmp_path))
    there(tmp_path / "p.zip", tmp_path / "there")
    damage(tmp_path / "there")
    with pytest.raises(DatasetError):
        unpacked(tmp_path / "there")


def test_a_validation_part_is_sent_too(tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "1.png").write_bytes(b"one")
    files = FilePart((str(folder / "1.png"),), np.array([1]))
    arrays = ArrayPart(np.zeros((2, 3, 4, 1), np.uint8), np.array([0, 1]))
    data = LoadedData(("a", "b"), arrays, validation=files)
    pack(data, tmp_path / "p.zip", PlainContext(tmp_path))
    back = there(tmp_path / "p.zip", tmp_path / "there")
    assert back.test is None
    check_same(files, back.validation)
