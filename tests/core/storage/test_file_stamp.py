"""What a file held in short: the same for the same content."""

from __future__ import annotations

import os

import pytest

from workbench.core.storage.file_stamp import FileStamp, read_stamp


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
        with pytest.raises(OSError, match=r"not a regular file|Is a directory"):
            read_stamp(path)
