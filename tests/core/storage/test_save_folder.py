"""A folder is replaced as a whole: the old one or the new one, never half of one."""

from __future__ import annotations

import errno
import os
import time

import pytest

from workbench.core.storage import save
from workbench.core.storage.save import save_folder, sweep_leftovers
from workbench.errors import LinkFoundError, SaveError, UnconfirmedSaveError


@pytest.fixture
def new(tmp_path):
    folder = tmp_path / "scratch" / "new"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.txt").write_text("new")
    (folder / "inner" / "b.txt").write_text("deep")
    return folder


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


def content(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def names_in(folder):
    return [path.name for path in folder.iterdir()]


NEW = {"a.txt": "new", "inner/b.txt": "deep"}


def old_in(place):
    (place / "old").mkdir()
    (place / "old" / "a.txt").write_text("old")
    return place / "old"


def test_a_folder_is_made(new, place):
    save_folder(place / "made", new)
    assert content(place / "made") == NEW
    assert names_in(place) == ["made"]
    assert content(new) == NEW


def test_a_folder_is_replaced(new, place):
    save_folder(old_in(place), new)
    assert content(place / "old") == NEW
    assert names_in(place) == ["old"]


@pytest.fixture
def no_exchange(monkeypatch):
    """A system that cannot exchange two folders."""

    class Plain:
        def __init__(self, *_args, **_kwargs):
            pass

    monkeypatch.setattr(save.ctypes, "CDLL", Plain)


@pytest.mark.usefixtures("no_exchange")
def test_a_folder_is_replaced_without_an_exchange(new, place):
    save_folder(old_in(place), new)
    assert content(place / "old") == NEW
    assert names_in(place) == ["old"]


@pytest.mark.usefixtures("no_exchange")
def test_the_old_folder_comes_back_where_the_new_one_cannot_be_put(new, place, monkeypatch):
    old = old_in(place)
    real = save.Path.rename

    def rename(path, target):
        if (path / "inner").is_dir():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(path, target)

    monkeypatch.setattr(save.Path, "rename", rename)
    with pytest.raises(SaveError, match="was not saved"):
        save_folder(old, new)
    assert content(old) == {"a.txt": "old"}
    assert names_in(place) == ["old"]


def test_a_copy_that_fails_leaves_the_old_folder(new, place):
    old = old_in(place)
    (new / "gone").symlink_to(new / "nowhere")
    with pytest.raises(SaveError, match="unchanged"):
        save_folder(old, new)
    assert content(old) == {"a.txt": "old"}
    assert names_in(place) == ["old"]


def test_a_file_is_not_replaced_by_a_folder(new, place):
    (place / "file").write_text("mine")
    with pytest.raises(SaveError):
        save_folder(place / "file", new)
    assert (place / "file").read_text() == "mine"


def test_a_link_is_not_followed(new, place):
    (place / "link").symlink_to(old_in(place))
    with pytest.raises(LinkFoundError):
        save_folder(place / "link", new)
    assert content(place / "old") == {"a.txt": "old"}


def test_a_disk_that_does_not_confirm_is_reported(new, place, monkeypatch):
    real = save._flush_folder

    def fail(folder):
        if folder == place:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(folder)

    monkeypatch.setattr(save, "_flush_folder", fail)
    with pytest.raises(UnconfirmedSaveError):
        save_folder(place / "made", new)
    assert content(place / "made") == NEW


def test_half_a_folder_that_a_kill_left_behind_is_swept(place):
    leftover = place / f".workbench-save-{'0' * 16}"
    leftover.mkdir()
    (leftover / "half").write_text("x")
    assert sweep_leftovers(place) == 0
    past = time.time() - 7200
    os.utime(leftover, (past, past))
    assert sweep_leftovers(place) == 1
    assert names_in(place) == []
