"""The one save routine: old or new, never neither."""

from __future__ import annotations

import errno
import os
import stat
import time

import pytest

from tests.proofs.saving import kill_savers
from workbench.core.storage import save
from workbench.core.storage.save import refuse_unwritable, save_bytes, sweep_leftovers
from workbench.errors import LinkFoundError, SaveError, UnconfirmedSaveError


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "a.workbench"
    save_bytes(path, b"one")
    save_bytes(path, b"two" * 500_000)
    assert path.read_bytes() == b"two" * 500_000
    assert names_in(tmp_path) == ["a.workbench"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_keeps_the_mode(tmp_path, mode):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    save_bytes(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_new_files_obey_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        save_bytes(tmp_path / "a", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    link.symlink_to(real)
    save_bytes(link, b"new", through_link=True)
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


@pytest.mark.parametrize("target", ["link", "nothing"])
def test_a_link_that_leads_to_no_file_is_refused(tmp_path, target):
    link = tmp_path / "link"
    link.symlink_to(target)
    with pytest.raises(LinkFoundError):
        save_bytes(link, b"new", through_link=True)
    assert names_in(tmp_path) == ["link"]


def test_refuses_what_is_no_file(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (folder, pipe, tmp_path / "missing" / "a", tmp_path / ("x" * 300)):
        with pytest.raises(SaveError) as caught:
            save_bytes(path, b"x")
        assert not isinstance(caught.value, UnconfirmedSaveError)
        assert caught.value.fix
    assert names_in(tmp_path) == ["folder", "pipe"]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])
def test_a_failing_step_leaves_the_old_file(tmp_path, monkeypatch, call, number):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*args):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(save.Path if call == "replace" else save.os, call, fail)
    with pytest.raises(SaveError, match="not saved") as caught:
        save_bytes(path, b"new")
    assert not isinstance(caught.value, UnconfirmedSaveError)
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["a"]


def test_a_failing_last_step_says_saved_but_not_confirmed(tmp_path, monkeypatch):
    path, real = tmp_path / "a", os.fsync
    path.write_bytes(b"old")

    def fail_for_folders(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, "Input/output error")
        real(descriptor)

    monkeypatch.setattr(save.os, "fsync", fail_for_folders)
    with pytest.raises(UnconfirmedSaveError, match="was saved, but the disk did not confirm"):
        save_bytes(path, b"new")
    assert path.read_bytes() == b"new"


def test_short_writes_are_continued(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(save.os, "write", lambda fd, data: real(fd, data[:7]))
    save_bytes(tmp_path / "a", b"0123456789" * 10)
    assert (tmp_path / "a").read_bytes() == b"0123456789" * 10


def test_sweeps_only_its_own_old_files(tmp_path):
    old = tmp_path / ".workbench-save-0123456789abcdef"
    young = tmp_path / ".workbench-save-0123456789abcde0"
    foreign = [tmp_path / ".workbench-save-xyz", tmp_path / "a.tmp", tmp_path / ".a.swp"]
    for path in (old, young, *foreign):
        path.write_bytes(b"x")
    past = time.time() - 7200
    for path in (old, *foreign):
        os.utime(path, (past, past))
    assert sweep_leftovers(tmp_path) == 1
    assert not old.exists()
    assert all(path.exists() for path in (young, *foreign))


def test_a_missing_folder_has_no_leftovers(tmp_path):
    assert sweep_leftovers(tmp_path / "missing") == 0


def test_twenty_kills_corrupt_nothing(tmp_path):
    tally = kill_savers(tmp_path, kills=20, seed=3)
    assert tally.is_kept, tally
    assert tally.saves > 0


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "read_only"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_args: False)  # root may write every file
    with pytest.raises(SaveError):
        save_bytes(path, b"new")
    assert path.read_bytes() == b"old"


def test_sweeping_passes_over_folders_and_what_cannot_be_looked_at(tmp_path, monkeypatch):
    folder = tmp_path / f".workbench-save-{'0' * 16}"
    folder.mkdir()
    hidden = tmp_path / f".workbench-save-{'1' * 16}"
    hidden.write_bytes(b"")
    os.utime(hidden, (0, 0))

    def fail(_path):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(save, "is_locked", fail)
    assert sweep_leftovers(tmp_path) == 0
    assert {folder, hidden} <= set(tmp_path.iterdir())


@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize("name", ["missing/name", "n" * 300, "a\0b"])
def test_where_nothing_can_be_written_is_known_beforehand(tmp_path, name, is_folder):
    with pytest.raises(SaveError, match="was not saved") as caught:
        refuse_unwritable(tmp_path / name, is_folder=is_folder)
    assert "unchanged" not in caught.value.what
    assert list(tmp_path.iterdir()) == []


def test_where_something_can_be_written_nothing_is(tmp_path):
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    refuse_unwritable(tmp_path / "old", is_folder=False)
    refuse_unwritable(tmp_path / "new", is_folder=False)
    refuse_unwritable(tmp_path / "folder", is_folder=True)
    refuse_unwritable(tmp_path / "new", is_folder=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "old"]
    with pytest.raises(SaveError, match=r"a folder has that name\. The previous one is unchanged"):
        refuse_unwritable(tmp_path / "folder", is_folder=False)
