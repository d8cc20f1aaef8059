"""Downloads from a server of this computer: fetched once, continued, checked, refused."""

from __future__ import annotations

import gzip
import hashlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contexts import CancelledForTest, PlainContext
from tests.web_server import WebServer, web_server
from workbench.core.storage.own_file import take_lock
from workbench.downloads import opener, transfer
from workbench.downloads.download import Download, keras_folder
from workbench.downloads.fetch import PARTIAL_PREFIX, fetch, fetch_unknown
from workbench.errors import DownloadError, LinkFoundError

CONTENT = bytes(range(256)) * 8192  # 2 MB: eight pieces


@pytest.fixture
def server() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


@pytest.fixture(autouse=True)
def direct(monkeypatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(transfer, "_PAUSE_S", 0.01)


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def ctx(tmp_path) -> PlainContext:
    return PlainContext(tmp_path / "cache")


def partials(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{PARTIAL_PREFIX}*"))


def test_a_file_is_fetched_once_with_progress(server, folder, ctx):
    download = server.put("a.bin", CONTENT)
    path = fetch(download, folder, ctx)
    assert path == folder / "a.bin"
    assert path.read_bytes() == CONTENT
    fractions = [fraction for _, fraction in ctx.reported if fraction is not None]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert ctx.reported[0][0].startswith("Connecting to 127.0.0.1")
    assert "Downloading Letters: 2.1 of 2.1 MB" in ctx.reported[-1][0]
    assert fetch(download, folder, ctx) == path
    assert server.asked == [("/a.bin", "")]
    assert list(folder.iterdir()) == [path]


def test_what_is_there_is_used_without_a_connection(folder, ctx):
    folder.mkdir()
    digest = hashlib.md5(b"x", usedforsecurity=False).hexdigest()
    download = Download("Letters", "http://127.0.0.1:1/letters.tar.gz", digest, "kept")
    for name in ("kept", "letters.tar.gz"):  # Keras's own name, and put there by hand
        (folder / name).write_bytes(b"x")
        assert fetch(download, folder, ctx) == folder / name
        (folder / name).unlink()


def test_a_damaged_file_is_fetched_again(server, folder, ctx):
    download = server.put("a.bin", CONTENT)
    folder.mkdir()
    (folder / "a.bin").write_bytes(b"half")
    assert fetch(download, folder, ctx).read_bytes() == CONTENT


def test_a_compressed_file_is_kept_as_its_makers_published_it(server, folder, ctx):
    data = gzip.compress(CONTENT)
    assert fetch(server.put("a.gz", data), folder, ctx).read_bytes() == data


def test_a_connection_that_breaks_is_continued_where_it_was(server, folder, ctx):
    download = server.put("a.bin", CONTENT, fault="cut")
    assert fetch(download, folder, ctx).read_bytes() == CONTENT
    starts = [int(wanted.removeprefix("bytes=")[:-1] or 0) for wanted in server.ranges()]
    assert starts[:3] == [0, len(CONTENT) // 2, len(CONTENT) * 3 // 4]
    assert starts == sorted(set(starts))


def test_a_canceled_download_is_continued_by_the_next(server, folder, ctx, tmp_path):
    download = server.put("a.bin", CONTENT)
    with pytest.raises(CancelledForTest):
        fetch(download, folder, PlainContext(tmp_path, cancel_after=4))
    (partial,) = partials(folder)
    size = partial.stat().st_size
    assert 0 < size < len(CONTENT)
    assert fetch(download, folder, ctx).read_bytes() == CONTENT
    assert server.ranges() == ["", f"bytes={size}-"]
    assert partials(folder) == []


def test_a_server_without_ranges_sends_all_of_it_again(server, folder, ctx, tmp_path):
    download = server.put("a.bin", CONTENT, fault="whole")
    with pytest.raises(CancelledForTest):
        fetch(download, folder, PlainContext(tmp_path, cancel_after=4))
    assert fetch(download, folder, ctx).read_bytes() == CONTENT


@pytest.mark.parametrize("size", [1000, len(CONTENT), len(CONTENT) + 5])
def test_what_an_other_file_has_left_is_thrown_away(server, folder, ctx, size):
    download = server.put("a.bin", CONTENT)
    folder.mkdir()
    (folder / f"{PARTIAL_PREFIX}{download.checksum[:16]}").write_bytes(b"?" * size)
    assert fetch(download, folder, ctx).read_bytes() == CONTENT


def test_a_finished_download_that_was_not_renamed_is_used(server, folder, ctx):
    download = server.put("a.bin", CONTENT)
    folder.mkdir()
    (folder / f"{PARTIAL_PREFIX}{download.checksum[:16]}").write_bytes(CONTENT)
    assert fetch(download, folder, ctx).read_bytes() == CONTENT
    assert server.ranges() == [f"bytes={len(CONTENT)}-"]


@pytest.mark.parametrize("fault", ["gone", "wrong", "offline"])
def test_a_mirror_is_used_where_the_first_address_fails(server, folder, ctx, fault):
    good = server.put("good.bin", CONTENT)
    server.put("wrong.bin", CONTENT[::-1])
    addresses = {
        "gone": f"{server.address}/gone",
        "wrong": f"{server.address}/wrong.bin",
        "offline": "http://127.0.0.1:1/a.bin",
    }
    download = replace(good, address=addresses[fault], mirrors=(good.address,))
    path = fetch(download, folder, ctx)
    assert path.read_bytes() == CONTENT
    assert path.name == download.file_name


def test_failures_name_the_host_and_the_way_out(server, folder, ctx):
    good = server.put("a.bin", CONTENT)
    server.put("empty.bin", b"")
    cases = [
        (replace(good, address="http://127.0.0.1:1/a.bin"), "no connection"),
        (replace(good, address="http://no-such-host.invalid/a.bin"), "no connection"),
        (replace(good, address=f"{server.address}/gone.bin"), "server refused"),
        (replace(good, checksum="0" * 64), "damaged or has changed"),
        (replace(good, address="file:///etc/hostname"), "no connection"),
        (replace(good, address=f"{server.address}/empty.bin"), "damaged or has changed"),
    ]
    for download, words in cases:
        with pytest.raises(DownloadError, match=words) as caught:
            fetch(download, folder, ctx)
        assert caught.value.where == download.address
        assert caught.value.received
        where_from = f"copy {download.file_name} from {download.address} into {folder}"
        assert where_from in caught.value.fix
        assert [path for path in folder.iterdir() if path.stat().st_size] == []


@pytest.mark.parametrize("target", ["file:///etc/hostname", "ftp://127.0.0.1/a.bin"])
def test_an_address_may_lead_to_a_web_address_alone(server, folder, ctx, target):
    good = server.put("a.bin", CONTENT)
    server.moved |= {"/moved.bin": good.address, "/out.bin": target}
    fetch(replace(good, address=f"{server.address}/moved.bin"), folder, ctx)
    with pytest.raises(DownloadError):
        fetch(replace(good, address=f"{server.address}/out.bin"), folder / "other", ctx)


def test_a_folder_that_cannot_be_written(server, tmp_path, ctx):
    (tmp_path / "file").write_text("")
    with pytest.raises(DownloadError, match="could not be stored"):
        fetch(server.put("a.bin", CONTENT), tmp_path / "file" / "inner", ctx)


def test_a_full_disk_is_known_before_it_is_full(server, folder, ctx, monkeypatch):
    monkeypatch.setattr(transfer, "_SPARE_BYTES", 1 << 60)
    with pytest.raises(DownloadError, match="Not enough disk space"):
        fetch(server.put("a.bin", CONTENT), folder, ctx)


def test_nothing_is_written_through_links(server, folder, ctx, tmp_path):
    download = server.put("a.bin", CONTENT)
    folder.mkdir()
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    for name in (f"{PARTIAL_PREFIX}{download.checksum[:16]}", "a.bin"):
        (folder / name).symlink_to(other)
        with pytest.raises(LinkFoundError):
            fetch(download, folder, ctx)
        assert other.read_bytes() == b"mine"
        (folder / name).unlink()


def test_old_leftovers_go_and_other_files_stay(server, folder, ctx):
    folder.mkdir()
    for name in (f"{PARTIAL_PREFIX}x", "of somebody else"):
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (1e9, 1e9))
    path = fetch(server.put("a.bin", CONTENT), folder, ctx)
    assert sorted(folder.iterdir()) == [path, folder / "of somebody else"]


def test_a_file_that_another_process_fetches_is_waited_for(server, folder, ctx):
    download = server.put("a.bin", CONTENT)
    folder.mkdir()
    partial = folder / f"{PARTIAL_PREFIX}{download.checksum[:16]}"
    held = take_lock(partial)
    assert held is not None
    found: list[Path] = []
    thread = threading.Thread(target=lambda: found.append(fetch(download, folder, ctx)))
    thread.start()
    while not any("Another process" in words for words, _ in list(ctx.reported)):
        time.sleep(0.01)
    partial.write_bytes(CONTENT)
    partial.rename(folder / "a.bin")
    os.close(held)
    thread.join()
    assert found == [folder / "a.bin"]
    assert server.asked == []
    assert partials(folder) == []


# files whose checksum nobody knows ---------------------------------------------------------


def test_an_unknown_file_is_limited_and_leaves_nothing_incomplete(server, folder, ctx, tmp_path):
    download = replace(server.put("a.bin", CONTENT), checksum="")
    folder.mkdir()
    path = folder / "own"
    fetch_unknown(download, path, ctx, max_bytes=len(CONTENT))
    assert path.read_bytes() == CONTENT
    path.unlink()
    with pytest.raises(DownloadError, match="too large"):
        fetch_unknown(download, path, ctx, max_bytes=len(CONTENT) - 1)
    other = PlainContext(tmp_path, cancel_after=3)
    with pytest.raises(CancelledForTest):
        fetch_unknown(download, path, other, max_bytes=len(CONTENT))
    assert list(folder.iterdir()) == []


def test_an_unknown_file_is_continued_only_where_the_server_names_its_version(server, folder, ctx):
    download = replace(server.put("a.bin", CONTENT, fault="cut"), checksum="")
    folder.mkdir()
    with pytest.raises(DownloadError, match="connection was lost"):
        fetch_unknown(download, folder / "own", ctx, max_bytes=1 << 30)
    assert list(folder.iterdir()) == []
    server.headers["ETag"] = '"first"'
    fetch_unknown(download, folder / "own", ctx, max_bytes=1 << 30)
    assert (folder / "own").read_bytes() == CONTENT


def test_keras_folder_follows_its_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    assert keras_folder() == tmp_path / "datasets"
    assert keras_folder("models") == tmp_path / "models"


# redirects -------------------------------------------------------------------------------


def unknown(address: str) -> Download:
    """A file whose checksum nobody knows."""
    return Download("Letters", address, "")


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.1", "2130706433", "[::ffff:127.0.0.1]"]
)
def test_a_file_without_a_checksum_comes_from_the_host_that_was_named(server, folder, ctx, host):
    """Another port is another server, and so is another name of the same computer."""
    folder.mkdir()
    with web_server() as other:
        other.put("secret.bin", CONTENT)
        target = f"http://{host}:{other.address.rpartition(':')[2]}/secret.bin"
        server.moved["/a.bin"] = target
        with pytest.raises(DownloadError, match="leads to another computer") as caught:
            fetch_unknown(unknown(f"{server.address}/a.bin"), folder / "a", ctx, max_bytes=1 << 30)
        assert host in caught.value.received
        assert "use the address of the file there" in caught.value.fix
        assert other.asked == []
    assert list(folder.iterdir()) == []


def test_a_redirect_on_the_same_server_is_followed(server, folder, ctx):
    folder.mkdir()
    server.put("b.bin", CONTENT)
    server.moved["/a.bin"] = "/b.bin"
    fetch_unknown(unknown(f"{server.address}/a.bin"), folder / "a", ctx, max_bytes=1 << 30)
    assert (folder / "a").read_bytes() == CONTENT


def test_redirects_are_counted(server, folder, ctx):
    folder.mkdir()
    server.moved |= {f"/{n}": f"/{n + 1}" for n in range(20)}
    with pytest.raises(DownloadError):
        fetch_unknown(unknown(f"{server.address}/0"), folder / "a", ctx, max_bytes=1 << 30)
    assert len(server.asked) <= 7


def test_with_a_checksum_no_server_leads_to_a_private_address(server, folder, ctx, monkeypatch):
    """The first server counts as public; the second one is on this computer, by another name."""
    with web_server() as other:
        good = other.put("b.bin", CONTENT)
        monkeypatch.setattr(opener, "_is_private", lambda number: number != "127.0.0.1")
        server.moved["/a.bin"] = good.address.replace("127.0.0.1", "[::1]")
        with pytest.raises(DownloadError):
            fetch(replace(good, address=f"{server.address}/a.bin"), folder, ctx)
        assert other.asked == []


@pytest.mark.parametrize(
    ("number", "is_private"),
    [("127.0.0.1", True), ("0.0.0.1", True), ("10.1.2.3", True), ("169.254.169.254", True),
     ("::1", True), ("::ffff:10.0.0.1", True), ("64:ff9b::7f00:1", True), ("2002:7f00:1::", True),
     ("fe80::1%eth0", True), ("2130706433", True), ("0x7f.1", True), ("localhost.", True),
     ("a.localhost", True), ("8.8.8.8", False), ("2606:4700::1111", False), ("example.org", False),
     ("64:ff9b::808:808", False)],
)  # fmt: skip
def test_which_addresses_are_private(number, is_private):
    assert opener._is_private(number) is is_private
