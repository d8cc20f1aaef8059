"""Keras's downloads, from a server of our own on this computer and from Keras's folder."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import os
import pickle
import struct
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import CancelledForTest, PlainContext
from workbench.datasets import _keras_download as downloads
from workbench.datasets import all_datasets, cifar10, cifar100, kmnist, mnist
from workbench.datasets._keras_download import Download, fetch, read_tar_members
from workbench.datasets._pickled_batch import read_batch
from workbench.errors import DatasetError

CONTENT = bytes(range(256)) * 4096  # 1 MB


class Server:
    """Serves `files` by path; "cut" paths break off, "gone" paths answer 404."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                data = outer.files.get(self.path.removeprefix("/cut"))
                if data is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                if self.path.endswith(".gz"):  # as many a server calls it
                    self.send_header("Content-Encoding", "gzip")
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if "/cut" in self.path else data)

            def log_message(self, *_: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    def put(self, name: str, data: bytes, *, title: str = "Letters") -> Download:
        self.files[f"/{name}"] = data
        return Download(title, f"{self.address}/{name}", hashlib.sha256(data).hexdigest())

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def keras_home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "keras" / "datasets"


@pytest.fixture
def ctx(tmp_path) -> PlainContext:
    return PlainContext(tmp_path / "cache")


def test_a_file_is_fetched_once_with_progress(server, keras_home, ctx):
    download = server.put("a.bin", CONTENT)
    path = fetch(ctx, download)
    assert path == keras_home / "a.bin"
    assert path.read_bytes() == CONTENT
    fractions = [fraction for _, fraction in ctx.reported if fraction is not None]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert ctx.reported[0][0].startswith("Connecting to 127.0.0.1")
    assert "Downloading Letters: 1.0 of 1.0 MB" in ctx.reported[-1][0]
    assert fetch(ctx, download) == path
    assert server.asked == ["/a.bin"]


def test_what_keras_has_is_used_without_a_connection(keras_home, ctx):
    keras_home.mkdir(parents=True)
    download = Download(
        "Letters", "http://127.0.0.1:1/letters.tar.gz", hashlib.sha256(b"x").hexdigest(), "kept"
    )
    for name in ("kept", "letters.tar.gz"):  # Keras's own name, and put there by hand
        (keras_home / name).write_bytes(b"x")
        assert fetch(ctx, download) == keras_home / name
        (keras_home / name).unlink()


def test_a_damaged_file_is_fetched_again(server, keras_home, ctx):
    download = server.put("a.bin", CONTENT)
    keras_home.mkdir(parents=True)
    (keras_home / "a.bin").write_bytes(b"half")
    assert fetch(ctx, download).read_bytes() == CONTENT


def test_a_compressed_file_is_kept_as_its_makers_published_it(server, ctx):
    data = gzip.compress(CONTENT)
    assert fetch(ctx, server.put("a.gz", data)).read_bytes() == data


def test_what_a_killed_download_left_is_removed_when_it_is_old(server, keras_home, ctx):
    keras_home.mkdir(parents=True)
    leftover = keras_home / f"{downloads._TEMPORARY}x"
    leftover.write_bytes(b"half")
    other = keras_home / "of somebody else"
    other.write_bytes(b"whole")
    for path in (leftover, other):
        os.utime(path, (1e9, 1e9))
    path = fetch(ctx, server.put("a.bin", CONTENT))
    assert sorted(keras_home.iterdir()) == [path, other]


def test_cancelling_leaves_nothing(server, keras_home, tmp_path):
    download = server.put("a.bin", CONTENT)
    with pytest.raises(CancelledForTest):
        fetch(PlainContext(tmp_path, cancel_after=2), download)
    assert list(keras_home.iterdir()) == []


def test_failures_name_the_host_and_the_way_out(server, keras_home, ctx):
    good = server.put("a.bin", CONTENT)
    cases = [
        (Download("Letters", "http://127.0.0.1:1/a.bin", good.checksum), "no connection"),
        (Download("Letters", "http://no-such-host.invalid/a.bin", good.checksum), "no connection"),
        (Download("Letters", f"{server.address}/gone.bin", good.checksum), "server refused"),
        (Download("Letters", f"{server.address}/cut/a.bin", good.checksum), "was lost"),
        (Download("Letters", f"{server.address}/a.bin", "0" * 64), "damaged or has changed"),
        (Download("Letters", "file:///etc/hostname", "0" * 64), "no connection"),
    ]
    for download, words in cases:
        with pytest.raises(DatasetError, match=words) as caught:
            fetch(ctx, download)
        assert caught.value.where == download.address
        assert caught.value.received
        assert f"copy {download.file_name} into {keras_home}" in caught.value.fix
        assert list(keras_home.iterdir()) == []


def test_a_folder_that_cannot_be_written(server, tmp_path, monkeypatch, ctx):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "file"))
    with pytest.raises(DatasetError, match="could not be stored"):
        fetch(ctx, server.put("a.bin", CONTENT))


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


def served(server: Server, monkeypatch, download: Download, data: bytes) -> None:
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
    monkeypatch.setattr(downloads, "MAX_MEMBER_BYTES", 4)
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
