"""The end of a file: its last lines without what could drive a terminal."""

from __future__ import annotations

from workbench.core.storage.file_tail import tail_bytes, tail_lines


def test_the_last_lines_are_given_without_control_characters(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(b"one\n\n \x1b[31mtwo\xff\nthree")
    assert tail_lines(path, max_lines=2) == (" [31mtwo\ufffd", "three")
    assert tail_lines(path, max_lines=9)[0] == "one"
    assert tail_bytes(path, 5) == b"three"


def test_a_file_that_is_not_there_has_no_end(tmp_path):
    assert tail_bytes(tmp_path / "log.txt", 5) == b""
    assert tail_lines(tmp_path / "log.txt", max_lines=2) == ()
