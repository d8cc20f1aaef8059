"""The bundled Fashion-MNIST: complete, unchanged, small."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import PlainContext
from workbench.assets import data_path, sample_paths
from workbench.datasets import all_datasets
from workbench.datasets import fashion_mnist as module
from workbench.errors import DatasetError
from workbench.pictures.thumbnails import decode_picture

DEBIAN = Path("/usr/share/datasets/fashion-mnist")
FILES = {
    "x_train": ("train-images-idx3-ubyte.gz", 16),
    "y_train": ("train-labels-idx1-ubyte.gz", 8),
    "x_test": ("t10k-images-idx3-ubyte.gz", 16),
    "y_test": ("t10k-labels-idx1-ubyte.gz", 8),
}
CHECKSUMS = {
    "x_train": "2e487a6c89124f78f2d7521542223cafe96f7123c3ca13d447772ac6ecbb3012",
    "y_train": "657fbd221bfc9f4198cc14b5619cc33ec57c58dd0e47af4d99d6650759e869a7",
    "x_test": "c867c93ff95360594e8ec3287995350b824dd110b11595c0e13d5423f621867a",
    "y_test": "3d0e6c6ea990b53b6f8f500a41cac93881d981b315f84578b7d915342ade01e9",
}


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    ctx = PlainContext(tmp_path_factory.mktemp("cache"))
    data = all_datasets()["fashion_mnist"].load(ctx, {})
    return {
        "x_train": data.train.pictures,
        "y_train": data.train.labels,
        "x_test": data.test.pictures,
        "y_test": data.test.labels,
    }


def checksum(array: np.ndarray) -> str:
    return hashlib.sha256(array.astype(np.uint8).tobytes()).hexdigest()


def test_it_is_complete_and_unchanged(arrays):
    assert arrays["x_train"].shape == (60_000, 28, 28, 1)
    assert arrays["x_test"].shape == (10_000, 28, 28, 1)
    assert {name: checksum(array) for name, array in arrays.items()} == CHECKSUMS
    assert np.bincount(arrays["y_train"]).tolist() == [6_000] * 10
    assert np.bincount(arrays["y_test"]).tolist() == [1_000] * 10


@pytest.mark.skipif(not DEBIAN.is_dir(), reason="Debian's dataset-fashion-mnist is not installed")
@pytest.mark.parametrize("name", FILES)
def test_it_equals_debians_package(arrays, name):
    file_name, header_bytes = FILES[name]
    data = gzip.decompress((DEBIAN / file_name).read_bytes())[header_bytes:]
    assert hashlib.sha256(data).hexdigest() == checksum(arrays[name])


def test_it_is_small_and_licensed():
    assert data_path("fashion_mnist.zip").stat().st_size <= 27_000_000
    assert "MIT License" in data_path("fashion_mnist_LICENSE.txt").read_text()


def test_the_second_time_it_is_mapped_not_unpacked(tmp_path, monkeypatch):
    first = all_datasets()["fashion_mnist"].load(PlainContext(tmp_path), {})
    monkeypatch.setattr(module, "_unpack", lambda path: pytest.fail("unpacked again"))
    ctx = PlainContext(tmp_path)
    again = all_datasets()["fashion_mnist"].load(ctx, {})
    assert isinstance(again.train.pictures, np.memmap)
    assert (again.test.labels == first.test.labels).all()
    assert ctx.reported == []


def test_a_damaged_bundle_is_reported(tmp_path):
    path = tmp_path / "fashion_mnist.zip"
    data = bytearray(data_path("fashion_mnist.zip").read_bytes())
    data[5_000_000] ^= 1
    path.write_bytes(data)
    with pytest.raises(DatasetError, match="damaged") as caught:
        module._unpack(path)
    assert caught.value.where == str(path)


def test_samples_are_test_pictures_of_the_class_they_are_named_by(arrays):
    names = [
        name.lower().split("/")[0].replace("-", "_").replace(" ", "_")
        for name in module.CLASS_NAMES
    ]
    found = set()
    for path in sample_paths():
        label = names.index(path.stem.rstrip("0123456789").rstrip("_"))
        found.add(label)
        grey = decode_picture(path)[..., :1]
        same = (arrays["x_test"] == grey).all(axis=(1, 2, 3))
        assert arrays["y_test"][same].tolist() == [label]
    assert found == set(range(10))
