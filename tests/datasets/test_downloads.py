"""The data sets that Keras downloads, from a server of this computer."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import pickle
import struct
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import PlainContext
from tests.web_server import WebServer, web_server
from workbench.datasets import _cifar, all_datasets, cifar10, cifar100, flowers, kmnist, mnist
from workbench.datasets._cifar import read_batch, read_tar_members
from workbench.downloads.download import Download
from workbench.errors import DatasetError
from workbench.pictures.png import png_bytes


@pytest.fixture
def server() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


@pytest.fixture(autouse=True)
def keras_home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "keras" / "datasets"


@pytest.fixture
def ctx(tmp_path) -> PlainContext:
    return PlainContext(tmp_path / "cache")


# the data sets themselves ----------------------------------------------------------------


def tar_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def batch(count: int, key: str, seed: int) -> tuple[bytes, np.ndarray, list[int]]:
    """A batch as the CIFAR files hold them: bytes keys, rows of 3,072 bytes, protocol 2."""
    rows = np.random.default_rng(seed).integers(0, 256, (count, 3072), np.uint8)
    labels = [(seed + i) % 10 for i in range(count)]
    plain = {b"data": rows, key.encode(): labels, b"batch_label": b"one", b"filenames": [b"a.png"]}
    return pickle.dumps(plain, protocol=2), rows, labels


def served(server: WebServer, monkeypatch, download: Download, data: bytes) -> None:
    """Gives a frozen `download` another address and the checksum of what is there."""
    server.put(download.file_name, data)
    checksum = hashlib.sha256(data).hexdigest()
    monkeypatch.setitem(vars(download), "address", f"{server.address}/{download.file_name}")
    monkeypatch.setitem(vars(download), "checksum", checksum)


def test_cifar10(server, monkeypatch, ctx, keras_home):
    names = [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]
    batches = [batch(4, "labels", seed) for seed in range(6)]
    files = {f"cifar-10-batches-py/{n}": b[0] for n, b in zip(names, batches, strict=True)}
    served(server, monkeypatch, cifar10.DOWNLOAD, tar_of({**files, "../evil": b"x"}))
    for _ in range(2):
        data = all_datasets()["cifar10"].load(ctx, {})
        assert data.train.pictures.shape == (20, 32, 32, 3)
        rows = np.concatenate([rows for _, rows, _ in batches[:5]])
        assert (data.train.pictures == rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)).all()
        assert data.train.labels.tolist() == [n for _, _, labels in batches[:5] for n in labels]
        assert data.test.labels.tolist() == batches[5][2]
    assert len(server.asked) == 1
    assert [path.name for path in keras_home.iterdir()] == [cifar10.DOWNLOAD.keras_name]


def test_cifar100(server, monkeypatch, ctx):
    train, test = batch(6, "fine_labels", 1), batch(3, "fine_labels", 2)
    files = {"cifar-100-python/train": train[0], "cifar-100-python/test": test[0]}
    served(server, monkeypatch, cifar100.DOWNLOAD, tar_of(files))
    data = all_datasets()["cifar100"].load(ctx, {})
    assert data.train.labels.tolist() == train[2]
    assert data.test.pictures.shape == (3, 32, 32, 3)
    assert len(data.class_names) == 100


def test_mnist(server, monkeypatch, ctx):
    out = io.BytesIO()
    x, y = np.full((20, 28, 28), 200, np.uint8), np.arange(20, dtype=np.uint8) % 10
    np.savez(out, x_train=x, y_train=y, x_test=x[:10], y_test=y[:10])
    served(server, monkeypatch, mnist.DOWNLOAD, out.getvalue())
    data = all_datasets()["mnist"].load(ctx, {})
    assert data.train.pictures.shape == (20, 28, 28, 1)
    assert data.class_names == tuple("0123456789")


def test_kmnist(server, monkeypatch, ctx):
    arrays = {
        "x_train": np.full((20, 28, 28), 7, np.uint8),
        "y_train": np.arange(20, dtype=np.uint8) % 10,
        "x_test": np.full((5, 28, 28), 8, np.uint8),
        "y_test": np.arange(5, dtype=np.uint8),
    }
    for part, array in arrays.items():
        header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
        old = kmnist.DOWNLOADS[part]
        data = gzip.compress(header + array.tobytes())
        server.put(old.file_name, data)
        new = Download(
            old.title,
            f"{server.address}/{old.file_name}",
            hashlib.md5(data, usedforsecurity=False).hexdigest(),
            old.keras_name,
        )
        monkeypatch.setitem(kmnist.DOWNLOADS, part, new)
    data = all_datasets()["kmnist"].load(ctx, {})
    assert (data.train.pictures[..., 0] == arrays["x_train"]).all()
    assert data.test.labels.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("module", [cifar10, cifar100, mnist])
def test_addresses_and_checksums_are_keras_own(module):
    key = module.SPEC.key
    package = importlib.util.find_spec("keras")  # found, not imported
    source = (Path(package.origin).parent / "src" / "datasets" / f"{key}.py").read_text()
    folder, name = module.DOWNLOAD.address.rsplit("/", 1)
    assert folder in source
    assert name in source
    assert module.DOWNLOAD.checksum in source
    assert module.DOWNLOAD.keras_name.removesuffix("_archive") in source


# hostile archives and pickles ------------------------------------------------------------


class Evil:
    def __reduce__(self):
        return (Path.touch, (Path("pickle-was-run"),))


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(Evil()),
        pickle.dumps({"data": Evil()}),
        pickle.dumps({"data": np.array([Evil()], dtype=object)}),
        pickle.dumps([1, 2]),
        pickle.dumps(np.dtype("O"), protocol=2),
        pickle.dumps({"data": np.zeros(3)})[:-20],
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"cos\nsystem\n(S'touch pickle-was-run'\ntR.",
        b"",
    ],
)
def test_pickles_run_nothing(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match="not a batch"):
        read_batch(data, "batch")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
def test_arrays_survive_the_restricted_reader(protocol):
    rows = np.arange(12, dtype=np.uint8).reshape(3, 4)
    plain = {"data": rows, "labels": [1, 2, 3], "name": b"bytes \xff"}
    read = read_batch(pickle.dumps(plain, protocol=protocol), "batch")
    assert (read["data"] == rows).all()
    assert read["labels"] == [1, 2, 3]
    assert read["name"] == b"bytes \xff"


def test_only_regular_members_are_read(tmp_path, monkeypatch):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("wanted")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
    with pytest.raises(DatasetError, match="damaged") as caught:
        read_tar_members(path, ["wanted"])
    assert caught.value.received == "no wanted"
    path.write_bytes(tar_of({"wanted": b"12345"}))
    assert read_tar_members(path, ["wanted"]) == {"wanted": b"12345"}
    monkeypatch.setattr(_cifar, "MAX_MEMBER_BYTES", 4)
    with pytest.raises(DatasetError, match="damaged"):
        read_tar_members(path, ["wanted"])
    for content in (b"", b"no archive", tar_of({"wanted": b"1" * 999})[:60]):
        path.write_bytes(content)
        with pytest.raises(DatasetError, match="damaged"):
            read_tar_members(path, ["wanted"])


def test_a_batch_without_pictures_is_reported(server, monkeypatch, ctx):
    wrong = pickle.dumps({b"data": np.zeros((2, 5), np.uint8), b"fine_labels": [1, 2]}, protocol=2)
    files = {"cifar-100-python/train": wrong, "cifar-100-python/test": wrong}
    served(server, monkeypatch, cifar100.DOWNLOAD, tar_of(files))
    with pytest.raises(DatasetError, match="does not contain images") as caught:
        all_datasets()["cifar100"].load(ctx, {})
    assert "data" in caught.value.received


def test_the_flower_photos(server, monkeypatch, ctx):
    png = png_bytes(np.zeros((2, 2, 3), np.uint8))
    names = flowers.CLASS_NAMES
    files = {f"flower_photos/{name}/{n}.jpg": png for name in names for n in range(2)}
    served(server, monkeypatch, flowers.DOWNLOAD, tar_of({**files, "LICENSE.txt": b"by"}))
    monkeypatch.setitem(vars(flowers.DOWNLOAD), "mirrors", ())
    data = all_datasets()["flowers"].load(ctx, {"fit": "crop"})
    assert data.class_names == names
    assert len(data.train) == 10
    assert data.notes == ()
