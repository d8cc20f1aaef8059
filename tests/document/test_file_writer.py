"""Files written beside the window."""

from __future__ import annotations

import os

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import read_project
from workbench.core.storage.file_stamp import OnlyOver, read_stamp
from workbench.document import file_writer, saved_project
from workbench.errors import SaveError


def test_a_write_ends_in_nothing_or_in_one_kind_of_error():
    """Qt's threads, in which it runs, are not seen by coverage."""
    assert file_writer._outcome_of(lambda: None) is None
    refused = SaveError("The disk is full.")

    def refuse():
        raise refused

    def fail():
        raise ZeroDivisionError("no save")

    assert file_writer._outcome_of(refuse) is refused
    assert "no save" in file_writer._outcome_of(fail).received


def test_a_project_is_written_and_old_leftovers_are_removed(tmp_path):
    left = tmp_path / f".workbench-save-{'0' * 16}"
    left.write_bytes(b"")
    os.utime(left, (0, 0))
    path = tmp_path / "p.workbench"
    written = []
    guard = OnlyOver(path, None, tmp_path / "open")
    saved_project._save(Project(title="Own"), path, guard, written)
    assert read_project(path).title == "Own"
    assert written == [read_stamp(path)]
    assert not left.exists()
