"""Where the Export dialog writes, and what becomes of an export that is canceled."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QFileDialog

from tests.gui.train.exporting.conftest import PATIENCE_MS, begin, wait_for_end
from tests.worker.exporting.conftest import make_run
from workbench.exports import FACTS_FORMAT
from workbench.gui.train.exporting import dialog as action
from workbench.gui.train.exporting import dialog as export_dialog
from workbench.gui.train.exporting import formats

FACTS = f'{{"format": "{FACTS_FORMAT}"}}'
ALL = ["Replace", "Keep both", "Cancel"]


def test_a_typed_name_of_a_folder_stays_until_another_is_proposed(show, run, qtbot):
    dialog = show(run)
    dialog.formats.select("savedmodel")
    dialog.name.field.selectAll()
    qtbot.keyClicks(dialog.name.field, "mine/a")
    dialog.ready.setChecked(True)
    assert dialog.name.text == "mine-a"
    dialog.name.field.setText(" .. ")
    assert dialog.name.text == "Colors 1 lr 0.001 SavedModel"
    dialog.formats.select("tensorflowjs")
    assert dialog.name.text == dialog.name.field.text() == "Colors 1 lr 0.001 TensorFlow.js"


def test_qts_own_dialog_makes_a_folder_in_the_chosen_one(show, run, tmp_path, qtbot):
    """No stand-in for the dialog: it is the one of this platform, and its button is pressed."""
    dialog = show(run)

    def press():
        found = QApplication.activeModalWidget()
        assert isinstance(found, QFileDialog)
        found.setDirectory(str(tmp_path))
        qtbot.mouseClick(found.findChild(QDialogButtonBox).buttons()[0], Qt.MouseButton.LeftButton)

    for path in (tmp_path / "x", tmp_path / "x 2"):  # the second time, the first one is there
        QTimer.singleShot(0, press)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(formats, "ask_choice", lambda *_, **__: 1)
            assert formats.ask_new_folder(dialog, "x") == str(path)
        (tmp_path / "x").mkdir(exist_ok=True)
        (tmp_path / "x" / "workbench.json").write_text(FACTS)


@pytest.mark.parametrize(
    ("facts", "choices"),
    [(FACTS, ALL), ('{"format": "other"}', ALL[1:]), ("[" * 9_000, ALL[1:])],
)
def test_only_an_earlier_export_may_be_replaced(window, path_chosen, tmp_path, facts, choices):
    path = tmp_path / "Colors"
    path.mkdir()
    (path / "model.onnx.json").write_text(facts)
    (path / "classify.py").write_text("a script of the user's own")
    wanted = {"Replace": str(path), "Keep both": str(tmp_path / "Colors 2"), "Cancel": ""}
    for chosen in (tmp_path, path)[: 2 if choices == ALL else 1]:
        for at, choice in enumerate(choices):
            asked = path_chosen(chosen, at)
            assert formats.ask_new_folder(window, path.name) == wanted[choice]
            assert asked[-1] == choices


def test_a_link_or_a_file_of_that_name_is_never_replaced(window, path_chosen, tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (real / "workbench.json").write_text(FACTS)
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "file").write_text("")
    path_chosen(tmp_path, 0)
    assert formats.ask_new_folder(window, "link") == str(tmp_path / "link 2")
    assert formats.ask_new_folder(window, "file") == str(tmp_path / "file 2")
    (tmp_path / "file 2").write_text("")
    assert formats.ask_new_folder(window, "file") == str(tmp_path / "file 3")


@pytest.mark.worker
def test_a_ready_folder_is_canceled_by_closing_the_window_written_and_replaced(
    show, tmp_path, qtbot, path_chosen, monkeypatch
):
    run = make_run(tmp_path)
    dialog, folder = show(run), tmp_path / "out" / "ready"
    window = dialog.parent()
    folder.parent.mkdir()
    path_chosen(folder.parent)
    dialog.ready.setChecked(True)
    dialog.formats.select("onnx")
    dialog.name.field.setText("ready")
    begin(qtbot, dialog, "onnx")
    answers = [1, 1, 0]
    monkeypatch.setattr(export_dialog, "ask_choice", lambda *_, **__: answers.pop(0))
    dialog.close()
    assert dialog.isVisible(), "the export is kept"
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert dialog.is_exporting
    with qtbot.waitSignal(dialog.destroyed, timeout=PATIENCE_MS):
        dialog.close()  # by its window
        assert not dialog.isVisible()
    assert window.status.currentMessage() == "Canceled. Nothing was written."
    assert list(folder.parent.iterdir()) == []

    again = show(run)
    again.ready.setChecked(True)
    for answer in (None, 0):  # the second time it is there, and is replaced
        path_chosen(folder.parent, answer)
        again.formats.select("onnx")
        again.name.field.setText("ready")
        begin(qtbot, again, "onnx")
        again.formats.select("savedmodel")  # one may look at other formats meanwhile
        assert "SavedModel" in again.name.text
        wait_for_end(qtbot, again)
        assert again.status.text() == "Wrote ready. It agrees with the model."
        assert (folder / "classify.py").is_file()
        assert not (folder / "added").exists()
        (folder / "added").write_text("")
    assert list(folder.parent.iterdir()) == [folder]


@pytest.mark.worker
def test_after_a_cancel_the_focus_is_on_export_and_what_was_too_late_is_said(
    show, tmp_path, qtbot, path_chosen, monkeypatch
):
    dialog = show(make_run(tmp_path))
    dialog.activateWindow()
    qtbot.waitUntil(dialog.formats.hasFocus)
    dialog.formats.select("onnx")
    path_chosen(tmp_path / "model.onnx")
    for was_sent in (True, False):
        if not was_sent:  # as where the worker has just put the file in its place
            monkeypatch.setattr(dialog._question, "cancel", lambda: None)
        qtbot.mouseClick(dialog.export, Qt.MouseButton.LeftButton)
        assert dialog.stop.hasFocus()
        qtbot.mouseClick(dialog.stop, Qt.MouseButton.LeftButton)
        assert not dialog.stop.isEnabled()
        wait_for_end(qtbot, dialog)
        assert dialog.export.hasFocus()
    late = "Finished before it could be canceled. Wrote "
    assert dialog.status.text().startswith(f"{late}model.onnx.")
    assert dialog.parent().status.currentMessage().startswith(f"{late}{tmp_path}")


@pytest.mark.worker
def test_closing_the_window_asks_about_an_export(show, tmp_path, qtbot, path_chosen, monkeypatch):
    dialog = show(make_run(tmp_path))
    runs, asked = dialog.parent().runs, []
    monkeypatch.setattr(
        action, "ask_choice", lambda _parent, what, *_, **__: (asked.append(what), len(asked))[1]
    )
    may_close = type(runs).may_close  # that of this window never asks
    assert may_close(runs)
    path_chosen(tmp_path / "model.onnx")
    begin(qtbot, dialog, "onnx")
    assert not may_close(runs)
    assert asked == ["A model is being exported."]
    dialog.stop.click()
    wait_for_end(qtbot, dialog)
    assert may_close(runs)
