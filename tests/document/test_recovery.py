"""Unsaved work comes back after a crash, to one window, as an unsaved copy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import read_project
from workbench.document import recovery
from workbench.document.autosave import Autosave
from workbench.document.project_document import ProjectDocument
from workbench.document.recovery import RecoverySlot, discard_offer, find_offers
from workbench.errors import InputError, SaveError
from workbench.layers import all_layers

ROOT = Path(__file__).resolve().parents[2]

EDITOR = """
import sys
from PySide6.QtCore import QCoreApplication
from workbench.document.autosave import Autosave
from workbench.document.project_document import ProjectDocument
from workbench.layers import all_layers
app = QCoreApplication([])
document = ProjectDocument(all_layers())
autosave = Autosave(document, sys.argv[1], delay_ms=1)
autosave.snapshot_saved.connect(lambda: print(len(document.graph.nodes), flush=True))
document.save(sys.argv[2])
for _ in range(int(sys.argv[3])):
    document.add_node("conv2d")
app.exec()
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "recovery"


@pytest.fixture
def autosave(document, folder):
    autosave = Autosave(document, folder, delay_ms=1)
    yield autosave
    autosave.close()


def crash(folder, path, num_edits=3, sign=signal.SIGKILL):
    """A window that edits, says that its snapshot is there, and is killed."""
    command = [sys.executable, "-c", EDITOR, str(folder), str(path), str(num_edits)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as editor:
        assert int(editor.stdout.readline()) == num_edits
        os.kill(editor.pid, sign)


def snapshots(folder):
    return [path for path in folder.iterdir() if path.suffix == ".workbench"]


def test_a_killed_window_is_offered_and_recovered_as_a_copy(
    document, autosave, folder, tmp_path, qtbot
):
    path = tmp_path / "p.workbench"
    crash(folder, path, num_edits=3)
    saved = path.read_bytes()
    (offer,) = find_offers(folder)
    assert (offer.title, offer.original, offer.num_edits) == ("p.workbench", path, 3)
    assert "3 edits not saved" in offer.sentence()
    assert not offer.is_original_newer
    autosave.recover(offer)
    assert len(document.graph.nodes) == 3
    assert document.is_dirty
    assert document.is_recovered
    assert document.path is None
    assert path.read_bytes() == saved
    assert "recovery" not in document.project.extra
    assert find_offers(folder) == []  # it is this window's now
    assert len(snapshots(folder)) == 1  # and would survive another crash
    document.save(path)
    document.writer.finish()
    assert not document.is_recovered
    assert snapshots(folder) == []
    assert len(read_project(path).graph.nodes) == 3


def test_the_snapshot_of_an_open_window_is_not_offered(document, autosave, folder, qtbot):
    with qtbot.waitSignal(autosave.snapshot_saved):
        document.add_node("input")
    assert len(snapshots(folder)) == 1
    assert find_offers(folder) == []


def test_an_offer_can_be_taken_once(folder, tmp_path):
    crash(folder, tmp_path / "p.workbench")
    (offer,) = find_offers(folder)
    first, second = RecoverySlot(folder), RecoverySlot(folder)
    first.take(offer)
    with pytest.raises(InputError, match="another window"):
        second.take(offer)
    first.close()
    second.close()
    assert len(find_offers(folder)) == 1  # closed without saving or discarding


def test_a_crash_while_recovering_leaves_the_offer(folder, tmp_path):
    crash(folder, tmp_path / "p.workbench")
    (offer,) = find_offers(folder)
    child = os.fork()
    if child == 0:
        RecoverySlot(folder).take(offer)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (again,) = find_offers(folder)
    assert again.project == offer.project


def test_saving_undoing_and_closing_end_the_snapshot(document, autosave, folder, tmp_path, qtbot):
    for end in (lambda: document.save(tmp_path / "p.workbench"), document.undo_stack.undo):
        with qtbot.waitSignal(autosave.snapshot_saved):
            document.add_node("input")
        assert len(snapshots(folder)) == 1
        end()
        document.writer.finish()
        assert snapshots(folder) == []


def test_given_up_work_is_put_away_for_a_month(document, folder, qtbot):
    autosave = Autosave(document, folder, delay_ms=1)
    with qtbot.waitSignal(autosave.snapshot_saved):
        document.add_node("input")
    autosave.close()
    assert find_offers(folder) == []
    assert sorted(path.name for path in folder.iterdir()) == ["discarded"]
    (kept,) = (folder / "discarded").iterdir()
    assert len(read_project(kept).graph.nodes) == 1
    old = time.time() - 31 * 24 * 3600
    os.utime(kept, (old, old))
    find_offers(folder)
    assert list((folder / "discarded").iterdir()) == []


def test_a_new_project_puts_the_old_snapshot_away(document, autosave, folder, qtbot):
    with qtbot.waitSignal(autosave.snapshot_saved):
        document.add_node("input")
    document.new()
    document.writer.finish()
    assert snapshots(folder) == []
    assert len(list((folder / "discarded").iterdir())) == 1


def test_a_damaged_snapshot_is_reported_and_can_be_discarded(document, autosave, folder, tmp_path):
    crash(folder, tmp_path / "p.workbench")
    (path,) = snapshots(folder)
    path.write_bytes(b"\xff{")
    (offer,) = find_offers(folder)
    assert offer.project is None
    assert "damaged" in offer.sentence()
    with pytest.raises(InputError):
        autosave.recover(offer)
    discard_offer(offer)
    assert find_offers(folder) == []


def test_a_changed_original_is_reported(folder, tmp_path):
    path = tmp_path / "p.workbench"
    crash(folder, path)
    later = time.time() + 60
    os.utime(path, (later, later))
    (offer,) = find_offers(folder)
    assert offer.is_original_newer
    assert "changed since" in offer.sentence()


def test_a_full_disk_is_reported_once(document, autosave, monkeypatch, qtbot):
    messages = []
    autosave.failed.connect(messages.append)

    def full(*args):
        raise SaveError("the disk is full", fix="Make room.")

    monkeypatch.setattr("workbench.document.recovery.save_bytes", full)
    for number in range(1, 4):
        document.add_node("input")
        qtbot.waitUntil(lambda: bool(messages))
        document.writer.finish()
        assert len(document.graph.nodes) == number
    assert messages == ["Unsaved changes would be lost in a crash: the disk is full Make room."]
    monkeypatch.undo()
    with qtbot.waitSignal(autosave.snapshot_saved):
        document.add_node("input")


def test_two_windows_keep_apart(qapp, folder, qtbot):
    documents = [ProjectDocument(all_layers()) for _ in range(2)]
    savers = [Autosave(document, folder, delay_ms=1) for document in documents]
    for document, saver in zip(documents, savers, strict=True):
        with qtbot.waitSignal(saver.snapshot_saved):
            document.add_node("input")
    assert len(snapshots(folder)) == 2
    savers[0].close()
    assert len(snapshots(folder)) == 1
    savers[1].close()


def test_the_recovery_folder_is_private(folder):
    slot = RecoverySlot(folder)
    assert folder.stat().st_mode & 0o077 == 0
    slot.close()


def test_a_window_works_without_a_recovery_folder(document, tmp_path, qtbot):
    (tmp_path / "file").write_text("")
    autosave = Autosave(document, tmp_path / "file" / "recovery", delay_ms=1)
    with qtbot.waitSignal(autosave.failed) as failed:
        document.add_node("input")
    assert "recovery folder cannot be used" in failed.args[0]
    autosave.close()


def test_work_done_while_a_file_is_written_is_kept_for_recovery(document, autosave, folder, qtbot):
    document.add_node("conv2d")
    document.saved.emit()  # of an older state: the document has been edited since
    qtbot.wait_until(lambda: folder.is_dir() and snapshots(folder) != [])
    assert document.is_dirty


def test_a_damaged_offer_is_refused_in_words(folder, tmp_path):
    folder.mkdir()
    damaged = folder / f"{'0' * 16}.workbench"
    damaged.write_text("{")
    (offer,) = find_offers(folder)
    slot = RecoverySlot(folder)
    with pytest.raises(InputError):
        slot.take(offer)
    slot.close()
    assert offer.problem


def test_a_slot_has_no_snapshot_after_it_was_cleared(document, folder):
    slot = RecoverySlot(folder)
    slot.save(document.project, None, 1)
    assert snapshots(folder) == [slot.snapshot]
    slot.clear()
    assert snapshots(folder) == []
    slot.close()


def test_a_lock_that_cannot_be_looked_at_is_taken_for_held(tmp_path):
    assert recovery._is_free(tmp_path / "none")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert not recovery._is_free(loop)


def test_a_folder_that_cannot_be_used_is_reported_when_saving(tmp_path, document):
    (tmp_path / "file").write_text("")
    slot = RecoverySlot(tmp_path / "file" / "recovery")
    with pytest.raises(SaveError) as caught:
        slot.save(document.project, None, 1)
    assert "recovery folder" in caught.value.what
    slot.close()


def test_a_recovery_folder_that_is_a_link_is_left_alone(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "recovery").symlink_to(outside)
    slot = RecoverySlot(tmp_path / "recovery")
    with pytest.raises(SaveError, match="cannot be used"):
        slot.save(Project(), None, 1)
    slot.discard()
    slot.close()
    assert not list(outside.iterdir())


def test_nothing_is_offered_or_forgotten_behind_a_link(folder, tmp_path, document):
    outside = tmp_path / "outside"
    slot = RecoverySlot(outside)
    slot.save(document.project, None, 1)
    slot.close()
    assert len(find_offers(outside)) == 1
    old = outside / "old.workbench"
    old.touch()
    os.utime(old, (0, 0))
    folder.mkdir()
    (folder / "discarded").symlink_to(outside)
    (tmp_path / "link").symlink_to(outside)
    assert find_offers(folder) == find_offers(tmp_path / "link") == []
    assert old.is_file()
