"""What is no regular file, or too long, is refused at once, in words, and never read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.planted_kinds import KINDS, plant_kind
from workbench.core.storage.foreign_file import (
    open_foreign,
    open_foreign_text,
    read_foreign,
    tail_bytes,
    tail_lines,
)
from workbench.core.storage.json_file import read_json
from workbench.core.storage.own_file import is_locked, take_lock


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_of_that_size_is_refused_with_its_reason(tmp_path, kind):
    path = tmp_path / "x"
    plant_kind(path, kind)
    with pytest.raises(OSError, match="x") as caught:
        read_foreign(path, 1000)
    assert caught.value.strerror
    assert read_json(path, dict) is None
    assert len(tail_bytes(path, 100)) in (0, 100)
    assert tail_lines(path, max_lines=2) == ()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("sparse", "folder")])
def test_asking_for_a_lock_never_waits(tmp_path, kind):
    path = tmp_path / "x"
    plant_kind(path, kind)
    with pytest.raises(OSError, match="x"):
        is_locked(path)


def test_a_regular_file_is_read_up_to_the_limit_also_behind_a_link(tmp_path):
    path, link = tmp_path / "x", tmp_path / "link"
    path.write_bytes(b"a\r\n" * 10)
    link.symlink_to(path)
    assert read_foreign(link, 30) == path.read_bytes()
    with open_foreign(link) as file:
        assert not os.get_inheritable(file.fileno())
    with open_foreign_text(path) as text:
        assert next(iter(text)) == "a\r\n"
    with pytest.raises(OSError, match="longer than 29 bytes"):
        read_foreign(path, 29)
    with pytest.raises(OSError, match="it is a link"):
        read_foreign(link, 30, follows_links=False)


def test_a_file_of_the_kernel_without_a_size_is_bounded_too():
    with pytest.raises(OSError, match="longer than 10 bytes"):
        read_foreign("/proc/self/maps", 10)


def test_no_file_and_no_name_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_foreign(tmp_path / "none", 10)
    with pytest.raises(OSError, match="null"):
        read_foreign("a\0b", 10)


def test_a_lock_that_is_held_is_seen(tmp_path):
    lock = take_lock(tmp_path / "lock")
    assert is_locked(tmp_path / "lock")
    os.close(lock)
    assert not is_locked(tmp_path / "lock")


@pytest.mark.parametrize("kind", ["fifo", "folder", "device"])
def test_what_takes_the_place_of_a_file_while_it_is_opened_is_refused(tmp_path, monkeypatch, kind):
    path, open_ = tmp_path / "x", os.open
    path.write_bytes(b"a")

    def replaced_before(name, *args):
        if name == path:
            plant_kind(path, kind)
        return open_(name, *args)

    monkeypatch.setattr(os, "open", replaced_before)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(OSError, match="x"):
        read_foreign(path, 10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
