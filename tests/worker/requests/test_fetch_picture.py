"""Pictures from a web server of this computer, by a real service worker."""

from __future__ import annotations

import numpy as np
import pytest

from tests.web_server import web_server
from workbench.pictures.png import png_bytes
from workbench.pictures.thumbnails import decode_picture
from workbench.protocol.classify import FetchPicture
from workbench.protocol.messages import Done, Failed
from workbench.protocol.service_call import ServiceCall

PNG = png_bytes(np.full((4, 6, 3), 7, np.uint8))


@pytest.fixture(autouse=True)
def direct(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def service():
    with ServiceCall() as call:
        yield call


@pytest.fixture
def server():
    with web_server() as server:
        yield server


def last(service, address, path):
    return list(service.answers(FetchPicture(id=1, address=address, path=str(path))))[-1]


def test_a_picture_is_written_whatever_its_address_ends_in(service, server, tmp_path):
    server.files["/rose.html"] = PNG
    server.moved["/moved"] = "/rose.html"
    path = tmp_path / "new"
    done = last(service, f"{server.address}/moved", path)
    assert isinstance(done, Done)
    assert done.path == str(path)
    assert decode_picture(path).shape == (4, 6, 3)


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"<!doctype html><html><body>a page</body></html>", "a web page (a failed"),
     (PNG[:-30], "PNG"), (b"", "0 bytes"), (None, "404")],
)  # fmt: skip
def test_what_is_no_picture_leaves_no_file(service, server, tmp_path, data, words):
    if data is not None:
        server.files["/rose.png"] = data
    failed = last(service, f"{server.address}/rose.png", tmp_path / "new")
    assert isinstance(failed, Failed)
    assert words in failed.error.received
    assert failed.error.where == f"{server.address}/rose.png"
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_replaced(service, server, tmp_path):
    server.files["/rose.png"] = PNG
    path = tmp_path / "mine"
    path.write_bytes(b"mine")
    assert isinstance(last(service, f"{server.address}/rose.png", path), Failed)
    assert path.read_bytes() == b"mine"
