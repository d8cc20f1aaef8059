"""Weights that Keras publishes are downloaded once, checked, and never without being chosen."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace

import pytest

from tests.contexts import CancelledForTest, PlainContext
from tests.web_server import web_server
from workbench.backbones import all_backbones, checked_file, fetch_weights, has_weights
from workbench.downloads import transfer
from workbench.errors import DownloadError, WeightsError

DATA = b"numbers" * 200_000
MD5 = hashlib.md5(DATA).hexdigest()  # noqa: S324 - as Keras does


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(transfer, "_PAUSE_S", 0.01)
    with web_server() as server:
        server.files["/net.h5"] = DATA
        yield server


@pytest.fixture
def ctx(tmp_path):
    return PlainContext(tmp_path / "cache")


def spec_at(address, checksum=MD5):
    spec = next(spec for spec in all_backbones().values() if not spec.is_bundled)
    weights = replace(spec.weights, address=address, checksum=checksum, num_bytes=len(DATA))
    return replace(spec, weights=weights)


@pytest.mark.parametrize("checksum", [MD5, hashlib.sha256(DATA).hexdigest(), ""])
def test_they_are_fetched_once_into_kerass_own_folder(server, ctx, tmp_path, checksum):
    spec = spec_at(f"{server.address}/net.h5", checksum)
    assert not has_weights(spec)
    path = fetch_weights(spec, ctx)
    assert path == tmp_path / "keras" / "models" / "net.h5"
    assert path.read_bytes() == DATA
    assert has_weights(spec)
    assert fetch_weights(spec, ctx) == path == checked_file(spec)
    assert len(server.asked) == 1
    assert ctx.reported[-1][0] != ""


def test_a_download_that_breaks_goes_on_where_it_was(server, ctx):
    spec = spec_at(f"{server.address}/cut/net.h5")
    assert fetch_weights(spec, ctx).read_bytes() == DATA
    starts = [int(wanted.removeprefix("bytes=")[:-1]) for wanted in server.ranges()[1:]]
    assert starts == sorted(starts)
    assert starts[0] > len(DATA) // 3


def test_a_canceled_download_is_continued_by_the_next_one(server, tmp_path, ctx):
    spec = spec_at(f"{server.address}/net.h5")
    with pytest.raises(CancelledForTest):
        fetch_weights(spec, PlainContext(tmp_path / "cache", cancel_after=3))
    assert not has_weights(spec)
    assert fetch_weights(spec, ctx).read_bytes() == DATA
    assert server.ranges()[-1].startswith("bytes=")


def test_a_file_with_another_checksum_is_refused(server, ctx):
    server.files["/net.h5"] = DATA[:-1] + b"?"
    with pytest.raises(DownloadError, match="damaged or has changed"):
        fetch_weights(spec_at(f"{server.address}/net.h5"), ctx)
    assert not has_weights(spec_at(f"{server.address}/net.h5"))


def test_without_a_connection_address_and_place_are_named(server, ctx, tmp_path):
    address = f"{server.address}/net.h5"
    server.stop()
    server.stop = lambda: None
    with pytest.raises(DownloadError) as caught:
        fetch_weights(spec_at(address), ctx)
    assert address in caught.value.fix
    assert str(tmp_path / "keras" / "models") in caught.value.fix


def test_a_file_put_there_by_hand_needs_no_connection(server, ctx, tmp_path):
    spec = spec_at("http://127.0.0.1:9/net.h5")
    path = tmp_path / "keras" / "models" / "net.h5"
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    assert fetch_weights(spec, ctx) == path
    assert server.asked == []


def test_a_file_of_unknown_checksum_that_changes_later_is_refused(server, ctx):
    spec = spec_at(f"{server.address}/net.h5", "")
    path = fetch_weights(spec, ctx)
    path.write_bytes(DATA[:-1] + b"?")
    with pytest.raises(WeightsError, match="damaged") as caught:
        checked_file(spec)
    assert hashlib.sha256(DATA).hexdigest() in caught.value.expected
    with pytest.raises(WeightsError, match="damaged"):
        fetch_weights(spec, ctx)


def test_a_file_of_unknown_checksum_may_not_be_much_larger(server, ctx):
    server.files["/net.h5"] = DATA * 3
    with pytest.raises(DownloadError, match="too large"):
        fetch_weights(spec_at(f"{server.address}/net.h5", ""), ctx)
    assert not has_weights(spec_at(f"{server.address}/net.h5", ""))


def test_bundled_weights_are_never_downloaded(server, ctx):
    spec = next(spec for spec in all_backbones().values() if spec.is_bundled)
    assert fetch_weights(spec, ctx) == checked_file(spec)
    assert server.asked == []


def test_weights_that_another_computer_has_sent_along_are_used(tmp_path, monkeypatch, server):
    folder = tmp_path / "resources"
    (folder / "backbones").mkdir(parents=True)
    (folder / "backbones" / "net.h5").write_bytes(DATA)
    monkeypatch.setattr("workbench.backbones._files.resources_folder", lambda: folder)
    assert checked_file(spec_at("http://127.0.0.1:9/net.h5")).parent == folder / "backbones"
    shutil.rmtree(folder)
    assert not has_weights(spec_at("http://127.0.0.1:9/net.h5"))
