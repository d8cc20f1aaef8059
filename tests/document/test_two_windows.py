"""Two documents on one file: a save replaces only what its window has read or written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer

from workbench.core.projects.project import Project, View
from workbench.core.projects.project_file import project_bytes, read_project, save_project
from workbench.core.storage.own_file import take_lock
from workbench.core.storage.save import OnlyOver, path_key, read_stamp
from workbench.document.disk_file import DiskState
from workbench.document.project_document import ProjectDocument
from workbench.errors import FileChangedError, SaveError
from workbench.layers import all_layers

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "p.workbench"
    save_project(Project(title="first"), path)
    return path


@pytest.fixture
def other(document):
    other = ProjectDocument(all_layers())
    yield other
    other.close()


def look(qtbot, document):
    document.disk.look()
    qtbot.waitUntil(lambda: document.disk.num_looks == 0)


def test_the_later_save_does_not_go_over_the_earlier(document, other, path):
    document.open(path)
    other.open(path)
    document.add_node("dropout")
    document.save()
    other.add_node("flatten")
    with pytest.raises(FileChangedError):
        other.save()
    assert [node.kind for node in read_project(path).graph.nodes.values()] == ["dropout"]
    assert other.is_dirty
    assert other.disk.state is DiskState.CHANGED
    assert [each.name for each in path.parent.iterdir()] == ["p.workbench"]
    other.save(over=other.disk.found)
    assert [node.kind for node in read_project(path).graph.nodes.values()] == ["flatten"]
    assert not other.is_dirty


def test_only_what_was_shown_is_replaced(document, other, path):
    document.open(path)
    other.open(path)
    document.add_node("dropout")
    document.save()
    shown = read_stamp(path)
    document.add_node("dense")
    document.save()
    other.add_node("flatten")
    with pytest.raises(FileChangedError):
        other.save(over=shown)
    assert len(read_project(path).graph.nodes) == 2


def test_a_change_is_seen_without_waiting_and_a_touch_is_none(document, path, qtbot):
    document.open(path)
    os.utime(path, (0, 0))
    look(qtbot, document)
    assert document.disk.state is DiskState.SAME
    save_project(Project(title="changed"), path)
    assert document.disk.state is DiskState.SAME
    look(qtbot, document)
    assert document.disk.state is DiskState.CHANGED
    assert not document.is_dirty
    document.open(path)
    assert document.disk.state is DiskState.SAME


def test_own_saves_are_no_changes(document, path, qtbot):
    document.open(path)
    for _ in range(5):
        document.add_node("dropout")
        document.disk.look()
        document.save()
        look(qtbot, document)
        assert document.disk.state is DiskState.SAME


def test_a_file_that_is_gone_counts_as_unsaved_and_is_written_again(document, path, qtbot):
    document.open(path)
    path.unlink()
    look(qtbot, document)
    assert document.disk.state is DiskState.GONE
    assert document.is_dirty
    document.save()
    assert read_project(path).title == "first"
    assert not document.is_dirty


def test_windows_with_the_same_file_see_each_other(document, other, path, qtbot):
    document.open(path)
    look(qtbot, document)
    assert not document.disk.is_open_elsewhere
    link = path.with_name("link.workbench")
    link.symlink_to(path)
    other.open(link)
    look(qtbot, other)
    assert other.disk.is_open_elsewhere
    look(qtbot, document)
    assert document.disk.is_open_elsewhere
    other.new()
    look(qtbot, other)

    def is_alone():  # a process forked meanwhile holds the mark until it is another program
        look(qtbot, document)
        return not document.disk.is_open_elsewhere

    qtbot.waitUntil(is_alone)


HOLDER = """
import sys, time
from pathlib import Path
from workbench.document.recovery import OpenMarks
OpenMarks(Path(sys.argv[1])).hold(Path(sys.argv[2]))
print("held", flush=True)
time.sleep(600)
"""


def test_a_killed_window_leaves_no_mark_that_counts(qapp, path, tmp_path, qtbot):
    folder = tmp_path / "open"
    document = ProjectDocument(all_layers(), state_folder=folder)
    document.open(path)
    words = [sys.executable, "-c", HOLDER, str(folder), str(path)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        look(qtbot, document)
        assert document.disk.is_open_elsewhere
        os.kill(holder.pid, signal.SIGKILL)
    look(qtbot, document)
    assert not document.disk.is_open_elsewhere
    assert len(list(folder.glob("*.open"))) == 1
    document.close()
    assert list(folder.glob("*.open")) == []


def test_the_lock_is_held_from_the_comparison_to_the_rename(path, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.core.storage.save._WAIT_S", 0.0)
    locks = tmp_path / "open"
    second = OnlyOver(path, None, locks)
    refused = pytest.raises(SaveError, match="another window is saving")
    with OnlyOver(path, [read_stamp(path)], locks), refused:
        second.__enter__()
    left = locks / f"{path_key(path)}.save"
    assert left.is_file()
    with OnlyOver(path, None, locks):  # a leftover does not block
        assert take_lock(left, wait_s=0) is None


def test_a_state_folder_that_cannot_be_used_does_not_keep_from_saving(qapp, path, tmp_path):
    blocked = tmp_path / "a file"
    blocked.touch()
    document = ProjectDocument(all_layers(), state_folder=blocked / "open")
    document.open(path)
    document.add_node("dropout")
    document.save()
    assert len(read_project(path).graph.nodes) == 1
    save_project(Project(title="changed"), path)
    with pytest.raises(FileChangedError):
        document.save()
    document.close()


def test_a_closed_document_looks_no_more(qapp, path):
    document = ProjectDocument(all_layers())
    document.open(path)  # its mark is set in the writer's thread, and a look would follow
    document.close()
    qapp.processEvents()
    document.disk.look()
    document.look_for_data()
    assert document.disk.num_looks == 0


def test_a_look_beside_an_own_save_raises_no_alarm(document, path, qtbot):
    """As when a question has closed: the window becomes active while its own save goes on."""
    document.open(path)
    states = []
    document.disk.changed.connect(lambda: states.append(document.disk.state))
    document.add_node("dropout")

    def look_while_saving():
        document.disk.look()
        document.writer.finish()  # both are done before either is reported

    QTimer.singleShot(0, look_while_saving)
    document.save()
    qtbot.waitUntil(lambda: document.disk.num_looks == 0)
    assert document.disk.state is DiskState.SAME
    assert DiskState.CHANGED not in states
    assert read_stamp(path) == document.disk.found


def test_a_look_during_a_save_is_made_up_for(document, other, path, qtbot):
    document.open(path)
    look(qtbot, document)
    other.open(path)
    other.writer.finish()
    document.add_node("dropout")
    QTimer.singleShot(0, document.disk.look)
    document.save()
    qtbot.waitUntil(lambda: document.disk.is_open_elsewhere)


def test_a_save_over_what_was_found_reports_the_new_state(document, path, qtbot):
    document.open(path)
    document.add_node("dropout")
    changed = project_bytes(document.project, path)
    path.write_bytes(changed.replace(b"dropout", b"flatten"))
    look(qtbot, document)
    assert document.disk.state is DiskState.CHANGED
    path.write_bytes(changed)
    document.disk.saw(read_stamp(path))
    states = []
    document.disk.changed.connect(lambda: states.append(document.disk.state))
    document.save(over=document.disk.found)
    assert document.disk.state is DiskState.SAME
    assert states == [DiskState.SAME]


def test_other_positions_alone_are_no_change_to_be_asked_about(document, path, qtbot):
    document.open(path)
    node = document.add_node("dropout")
    document.save()
    view = View({node: (400.0, 80.0)}, 0.5)
    save_project(replace(document.project, view=view), path)
    with qtbot.waitSignal(document.disk.rearranged):
        document.disk.look()
    assert document.disk.state is DiskState.SAME
    document.add_node("flatten")
    document.save()
    assert len(read_project(path).graph.nodes) == 2


@pytest.mark.parametrize("content", [b"", b"{", None])
def test_another_content_is_a_change(document, path, qtbot, content):
    document.open(path)
    path.write_bytes(
        project_bytes(replace(document.project, title="other"), path)
        if content is None
        else content
    )
    look(qtbot, document)
    assert document.disk.state is DiskState.CHANGED
