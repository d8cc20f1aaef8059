"""A bundle is saved by the menu, and opened by a drop."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from tests.class_folders import stripes_project, write_stripes
from tests.window_parts import drop_on
from workbench.core.projects.project_file import save_project
from workbench.gui.files.opening import BundleDialog
from workbench.gui.kit import dialogs


def test_a_bundle_is_saved_and_opened_from_the_window(window, qtbot, tmp_path, monkeypatch):
    project = stripes_project(write_stripes(tmp_path / "stripes", 9))
    save_project(project, tmp_path / "p.workbench")
    assert window.files.open(str(tmp_path / "p.workbench"))
    window.actions_by_key["bundle"].trigger()
    dialog = window.findChild(BundleDialog)
    assert dialog.isModal(), "closing the window would end it without a question"
    qtbot.waitUntil(dialog.next.isVisible)
    assert "the project, 0 runs and 9 image files: " in dialog.words.text()
    out = tmp_path / "out.workbundle"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(out), ""))
    with qtbot.waitSignal(dialog.ended):
        qtbot.mouseClick(dialog.next, Qt.MouseButton.LeftButton)
    assert window.status.currentMessage() == "Saved out.workbundle."
    (tmp_path / "there").mkdir()
    monkeypatch.setattr(dialogs, "choose_folder", lambda *_: str(tmp_path / "there"))
    words = drop_on(window, out)
    assert words == "Drop to open the bundle “out.workbundle”"
    unpacked = tmp_path / "there" / "out"
    qtbot.waitUntil(lambda: window.context.document.path == unpacked / "p.workbench")
    path = window.context.document.project.dataset.params["path"]
    assert path == str(unpacked / "images" / "0" / "stripes")


def test_a_file_that_is_no_bundle_is_refused_in_words(window, qtbot, tmp_path, monkeypatch):
    (tmp_path / "x.workbundle").write_bytes(b"no zip")
    monkeypatch.setattr(dialogs, "choose_folder", lambda *_: str(tmp_path))
    dialog = window.bundles.ask_open(str(tmp_path / "x.workbundle"))
    assert dialog.isModal()
    qtbot.waitUntil(lambda: "is no bundle that can be opened" in dialog.status.text())
    dialog.reject()
