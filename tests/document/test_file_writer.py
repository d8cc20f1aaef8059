"""Files written beside the window."""

from __future__ import annotations

import os

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import read_project, save_project
from workbench.core.storage.save import OnlyOver, read_stamp
from workbench.document import disk_file, project_edits
from workbench.errors import SaveError


def test_a_write_ends_in_nothing_or_in_one_kind_of_error():
    """Qt's threads, in which it runs, are not seen by coverage."""
    assert disk_file._outcome_of(lambda: None) is None
    refused = SaveError("The disk is full.")

    def refuse():
        raise refused

    def fail():
        raise ZeroDivisionError("no save")

    assert disk_file._outcome_of(refuse) is refused
    assert "no save" in disk_file._outcome_of(fail).received


def test_a_project_is_written_and_old_leftovers_are_removed(tmp_path):
    left = tmp_path / f".workbench-save-{'0' * 16}"
    left.write_bytes(b"")
    os.utime(left, (0, 0))
    path = tmp_path / "p.workbench"
    written = []
    guard = OnlyOver(path, None, tmp_path / "open")
    project_edits._save(Project(title="Own"), path, guard, written)
    assert read_project(path).title == "Own"
    assert written == [read_stamp(path)]
    assert not left.exists()


def test_a_look_reads_the_project_of_another_content(document, tmp_path):
    path = tmp_path / "p.workbench"
    project = Project(title="Own", id="1" * 16)
    assert document.disk._see(path, None) == (None, None, False)
    save_project(project, path)
    stamp = read_stamp(path)
    assert document.disk._see(path, stamp) == (stamp, None, False)
    seen = document.disk._see(path, None)
    assert (seen.found, seen.project) == (stamp, project)
    assert seen.found.modified_at == stamp.modified_at
    path.write_bytes(b"no project")
    assert document.disk._see(path, stamp) == (read_stamp(path), None, False)


def test_a_write_is_answered_once_with_its_outcome(qapp, tmp_path):
    """What a thread of the pool does, done here: coverage does not see Qt's threads."""
    writer = disk_file.FileWriter()
    path, outcomes = tmp_path / "p", []
    writer._waiting = {1: outcomes.append, 2: outcomes.append}
    disk_file._Write(writer, 1, lambda: path.write_bytes(b"new") and None).run()
    disk_file._Write(writer, 2, lambda: (tmp_path / "gone" / "p").write_bytes(b"new")).run()
    assert path.read_bytes() == b"new"
    written, refused = outcomes
    assert written is None
    assert isinstance(refused, SaveError)
    assert "No such file" in refused.received
    assert writer._waiting == {}


def test_nothing_is_written_once_the_writer_is_closed(qapp, tmp_path):
    writer, outcomes = disk_file.FileWriter(), []
    writer.write((tmp_path / "before").touch, outcomes.append)
    writer.close()
    writer.write((tmp_path / "after").touch, outcomes.append)
    writer.finish()
    qapp.processEvents()
    assert outcomes == [None]
    assert [path.name for path in tmp_path.iterdir()] == ["before"]
