"""What a file held in short: the same for the same content."""

from __future__ import annotations

import os

import pytest

from workbench.core.storage.own_file import take_lock
from workbench.core.storage.save import FileStamp, OnlyOver, path_key, read_stamp
from workbench.errors import FileChangedError


def test_a_copy_has_the_stamp_of_what_was_copied(tmp_path):
    one, copy = tmp_path / "one", tmp_path / "copy"
    one.write_bytes(b"of the user")
    copy.write_bytes(b"of the user")
    os.utime(copy, (0, 0))
    assert read_stamp(one) == read_stamp(copy) == FileStamp.of_bytes(b"of the user")
    copy.write_bytes(b"of another")
    assert read_stamp(one) != read_stamp(copy)


def test_what_is_not_there_has_none(tmp_path):
    (tmp_path / "file").touch()
    assert read_stamp(tmp_path / "gone") is None
    assert read_stamp(tmp_path / "file" / "below") is None


def test_a_pipe_or_a_folder_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(OSError, match=r"not a regular file|it is a folder"):
            read_stamp(path)


def test_a_save_over_a_changed_file_is_refused_and_blocks_no_later_one(tmp_path):
    path, locks = tmp_path / "p", tmp_path / "open"
    path.write_bytes(b"read")
    read = read_stamp(path)
    path.write_bytes(b"changed")
    guard = OnlyOver(path, [read], locks)
    with pytest.raises(FileChangedError, match="another program has changed it"):
        guard.__enter__()
    assert guard.found == FileStamp.of_bytes(b"changed")
    again = take_lock(locks / f"{path_key(path)}.save", wait_s=0)
    assert again is not None
    os.close(again)
