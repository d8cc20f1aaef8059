"""Starting from a folder of pictures; getting back what a crash has left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from tests.class_folders import write_plain
from tests.window_parts import drop_on, window_context
from workbench.document.recovery import RecoverySlot, find_offers
from workbench.gui.files import opening as start_flow
from workbench.gui.files.opening import RecoveryController
from workbench.gui.shell.faults import Faults, crash_report
from workbench.protocol.describe_data import DataDescription
from workbench.protocol.messages import Progress
from workbench.qt_guard import _bindings_versions, guard_none
from workbench.templates import find_template


@pytest.fixture
def folder(tmp_path):
    counts = {"champignon": 6, "chanterelle": 5, "fly agaric": 7}
    return write_plain(tmp_path / "mushrooms", counts, side=9)


def test_own_pictures_open_the_data_view(window, folder, monkeypatch, qtbot):
    view = window.views.view("data")
    monkeypatch.setattr(view.state, "describe", lambda: None)
    welcome = window.views.view("welcome")
    window.start.from_folder(str(folder))
    assert welcome.wait.text() == "Counting the images in “mushrooms”…"
    qtbot.waitUntil(lambda: window.views.current_key == "data")
    assert not welcome.wait.is_waiting
    assert window.files.name == "mushrooms"


def test_a_project_opened_meanwhile_calls_the_counting_off(window, folder, qtbot):
    window.start.from_folder(str(folder))
    window.files.new(find_template("lenet5").project)
    qtbot.waitUntil(lambda: not window.start._background.is_busy)
    assert window.files.name == find_template("lenet5").project.title
    assert window.views.current_key == "design"


@pytest.mark.worker
def test_an_archive_dropped_at_the_start_is_read_by_a_worker(window, folder, tmp_path, qtbot):
    archive = shutil.make_archive(str(tmp_path / "forest"), "zip", folder)
    welcome = window.views.view("welcome")
    drop_on(window, Path(archive))
    assert welcome.wait.text() == "Reading “forest.zip”…"
    assert welcome.cancel.isVisible()
    qtbot.waitUntil(lambda: window.views.current_key == "data", timeout=60_000)
    assert window.files.name == "forest"
    project = window.context.document.project
    assert project.dataset.params["path"] == archive
    assert project.summary
    assert window.context.document.analysis.is_trainable


def test_reading_at_the_start_can_be_canceled(window, folder, tmp_path, qtbot, monkeypatch):
    archive = shutil.make_archive(str(tmp_path / "forest"), "zip", folder)
    service, asked, canceled = window.context.service, [], []
    monkeypatch.setattr(service, "send", lambda *request: asked.append(request) or len(asked))
    monkeypatch.setattr(service, "cancel", canceled.append)
    welcome = window.views.view("welcome")
    drop_on(window, Path(archive))
    (_, answer), *_ = asked
    answer(Progress(text="Unpacking forest.zip", fraction=0.5))
    assert welcome.wait.text() == "Unpacking forest.zip (50%)…"
    welcome.cancel.click()
    assert canceled == [1]
    assert not welcome.cancel.isVisible()
    assert welcome.wait.text() == ""
    answer(DataDescription(title="", classes=[], num_train=0, num_test=0, shape=[]))
    assert window.views.current_key == "welcome"


def test_a_folder_that_is_no_data_set_is_reported(window, tmp_path, qtbot, monkeypatch):
    shown = []
    monkeypatch.setattr(start_flow, "show_error", lambda _parent, error: shown.append(error))
    window.start.from_folder(str(tmp_path))
    qtbot.waitUntil(lambda: bool(shown))
    assert "no class folders" in shown[0].what
    assert window.views.current_key == "welcome"


def test_what_a_crash_left_is_offered_and_recovered(window, tmp_path, qtbot):
    recovery = tmp_path / "recovery"
    lost = RecoverySlot(recovery)
    lost.save(find_template("lenet5").project, None, 4)
    lost.close()
    flow = RecoveryController(window.context.document, recovery, window)
    dialog = flow.offer()
    assert "4 edits not saved" in dialog.list.item(0).text()
    assert dialog.recover.isDefault()
    with qtbot.waitSignal(flow.recovered):
        QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    assert window.context.document.project.title == "LeNet-5"
    assert window.isWindowModified()
    flow.close()


def test_recovered_work_is_named_after_its_file_and_saved_beside_it(window, tmp_path, monkeypatch):
    original = tmp_path / "mine.workbench"
    lost = RecoverySlot(tmp_path / "recovery")
    lost.save(find_template("lenet5").project, original, 4)
    lost.close()
    flow = RecoveryController(window.context.document, tmp_path / "recovery", window)
    flow.offer().recover.click()
    assert window.files.name == "mine (recovered)"
    offered = []

    def choose(_parent, _title, start, filters):
        offered.append(start)
        return start, filters

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    assert window.files.save()
    assert offered == [str(tmp_path / "mine (recovered).workbench")]
    assert not original.exists()
    assert window.files.name == "mine (recovered)"
    window.files.new()
    assert window.files.name == "untitled"
    flow.close()


def test_discarded_work_is_not_offered_again(window, tmp_path):
    recovery = tmp_path / "recovery"
    lost = RecoverySlot(recovery)
    lost.save(find_template("lenet5").project, None, 1)
    lost.close()
    flow = RecoveryController(window.context.document, recovery, window)
    dialog = flow.offer()
    dialog.discard.click()
    assert not dialog.isVisible()
    assert find_offers(recovery) == []
    assert flow.offer() is None
    flow.close()


def _fail():
    raise RuntimeError("planted by a test")


def test_a_fault_is_logged_and_reported(window, tmp_path, qtbot, expect_log):
    expect_log("ERROR workbench.window: Error in the window")
    faults = Faults(tmp_path / "logs")
    faults.install()
    try:
        faults.window = window
        try:
            _fail()
        except RuntimeError as error:
            report = crash_report(type(error), error, error.__traceback__)
            with qtbot.waitSignal(faults._caught):
                faults._on_exception(type(error), error, error.__traceback__)
    finally:
        faults.uninstall()
    assert "planted by a test" in report
    assert "planted by a test" in faults.log_path.read_text()
    dialog = next(d for d in window.children() if type(d).__name__ == "CrashDialog")
    assert "planted by a test" in dialog.report.toPlainText()
    dialog.accept()


def test_settings_are_kept_between_starts(tmp_path, qapp):
    with window_context(tmp_path) as first:
        first.settings.change(theme="dark")
    with window_context(tmp_path) as second:
        assert second.theme.mode == "dark"


def test_the_guard_lists_the_bindings():
    assert _bindings_versions()
    assert guard_none() is False
