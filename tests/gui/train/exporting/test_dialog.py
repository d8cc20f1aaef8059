"""The Export dialog: what it offers, exports by real workers, and what is shown of them."""

from __future__ import annotations

import os
import sys

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox

from tests.gui.train.exporting import tampering_worker
from tests.gui.train.exporting.conftest import PATIENCE_MS, PROOF, begin, wait_for_end
from tests.worker.exporting.conftest import make_run
from workbench.client.service_process import ServiceProcess
from workbench.core.specs import EXPORT_GROUPS
from workbench.exports import run_exports
from workbench.gui.kit import dialogs
from workbench.gui.train.exporting.dialog import ExportAction
from workbench.gui.train.exporting.formats import proposed_name
from workbench.parts import CLASSIFY, TRAIN
from workbench.runs.export.proof_table import EXPORTS_NAME, keep_export, read_exports

WRONG = msgspec.structs.replace(
    PROOF,
    format="savedmodel",
    max_difference=0.43,
    reason="a probability differs by 0.43",
    layer="conv2d_6",
)


def cells(dialog, row):
    model = dialog.table.model()
    return [model.item(row, place).text() for place in range(model.columnCount())]


def red_cells(dialog, theme):
    """How many cells of each row are in the red of the theme."""
    model = dialog.table.model()
    rows, places = range(model.rowCount()), range(model.columnCount())
    colors = [[model.item(row, at).foreground().color().name() for at in places] for row in rows]
    return [row.count(theme.colors.bad) for row in colors]


def test_every_format_is_listed_in_its_group(show, run):
    dialog = show(run)
    items = [dialog.formats.topLevelItem(at) for at in range(dialog.formats.topLevelItemCount())]
    headings = [item.text(0) for item in items if not item.flags()]
    titles = [item.text(0) for item in items if item.flags()]
    assert titles == [spec.title for spec in run_exports().values()]
    assert headings == [group for group in EXPORT_GROUPS if group in headings]
    for key, spec in run_exports().items():
        dialog.formats.select(key)
        assert dialog.formats.current is spec
        assert dialog.summary.text() == spec.summary
        assert dialog.export.isEnabled()
    assert dialog.nothing.isVisible()
    assert not dialog.table.isVisible()


def test_no_two_formats_are_offered_the_same_name(show, run, path_chosen):
    dialog = show(run)
    asked, folders = path_chosen(""), []
    for key, spec in run_exports().items():
        for is_ready in (False, True):
            dialog.formats.select(key)
            dialog.ready.setChecked(is_ready)
            assert dialog.name.isVisible() == (is_ready or spec.is_folder)
            if dialog.name.isVisible():
                folders.append(dialog.name.text)
            dialog.export.click()
    files = [words[1] for words in asked if len(words) == 3]
    names = files + folders
    assert len(names) == len(asked)
    assert len(set(names)) == len(names) - sum(spec.is_folder for spec in run_exports().values())
    assert "LiteRT, int8 (*.tflite)" in {words[2] for words in asked if len(words) == 3}
    assert "Colors 1 lr 0.001 LiteRT int8" in folders
    assert not any("·" in name for name in names)


def test_a_format_without_its_runtime_has_the_line_that_installs_it(show, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # as Python marks what is not there
    dialog = show(run)
    dialog.formats.select("onnx")
    assert not dialog.export.isEnabled()
    assert CLASSIFY.install_command in dialog.summary.text()
    line = dialog.formats.currentItem()
    assert line.text(1) == "“ONNX” needs onnxruntime, which is not installed."
    assert line.foreground(0).color().name() == dialog.formats._theme.colors.faint


def test_without_tensorflow_no_format_is_written(show, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", None)
    dialog = show(run)
    for key in run_exports():
        dialog.formats.select(key)
        assert not dialog.export.isEnabled()
        assert TRAIN.install_command in dialog.summary.text()


def test_what_is_kept_is_shown_and_what_disagrees_is_red_in_both_themes(show, run, context):
    keep_export(run, WRONG)
    keep_export(run, PROOF)
    dialog = show(run)
    assert cells(dialog, 0) == [
        "ONNX", "7.8 MB", "500", "< 0.001%", "100.0%", "89.2%", "89.2%", "0.512 ms", "64.0 MB",
        "agrees",
    ]  # fmt: skip
    assert cells(dialog, 1)[0] == "SavedModel"
    assert cells(dialog, 1)[-1] == "a probability differs by 0.43, from the layer “conv2d_6” on"
    assert red_cells(dialog, context.theme) == [0, 10]
    context.theme.set_mode("dark")
    assert red_cells(dialog, context.theme) == [0, 10]
    dialog.table.selectRow(1)
    image = dialog.table.viewport().grab().toImage()
    places = range(dialog.table.rowViewportPosition(1), dialog.table.rowViewportPosition(1) + 28)
    colors = {image.pixelColor(x, y).name() for y in places for x in range(image.width())}
    assert {context.theme.colors.bad, context.theme.colors.accent_soft} <= colors
    assert "“conv2d_6”" in dialog.status.text()
    assert dialog.status.property("role") == "bad"
    assert not dialog.folder.isEnabled()


def file_manager(folder, monkeypatch, command):
    """What the desktop opens folders with does this."""
    program = folder / "bin" / "xdg-open"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{command}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def test_without_a_file_manager_the_folder_is_said_and_can_be_copied(show, run, qtbot, monkeypatch):
    keep_export(run, msgspec.structs.replace(PROOF, path=str(run.request_path)))
    file_manager(run.path, monkeypatch, "exit 3")
    said = []

    def press_copy(box):
        said.append(box.informativeText())
        next(each for each in box.buttons() if each.text() == "Copy path").click()

    monkeypatch.setattr(QMessageBox, "exec", press_copy)
    dialog = show(run)
    dialog.table.selectRow(0)
    dialog.folder.click()
    qtbot.waitUntil(lambda: bool(said))
    assert said == [f"The folder is {run.path}."]
    assert QApplication.clipboard().text() == str(run.path)


def test_the_keyboard_reaches_all_of_it(show, run, qtbot, monkeypatch):
    keep_export(run, msgspec.structs.replace(PROOF, path=str(run.request_path)))
    opened = run.path / "opened"
    file_manager(run.path, monkeypatch, f'printf "%s" "$1" > "{opened}"')
    dialog = show(run)
    dialog.activateWindow()
    qtbot.waitUntil(dialog.formats.hasFocus)
    reached = []
    while QApplication.focusWidget() not in reached:
        reached.append(QApplication.focusWidget())
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert reached == [
        dialog.formats, dialog.ready, dialog.table, dialog.folder, dialog.export, dialog.stop,
        dialog.head.learn,
    ]  # fmt: skip
    assert [each.accessibleName() for each in (dialog.formats, dialog.table)] == [
        "Formats",
        "Exports of this run",
    ]
    dialog.table.setFocus()
    qtbot.keyClick(dialog.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: opened.exists() and opened.read_text() == str(run.path))
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_an_export_that_was_moved_is_not_shown(show, run, qtbot, monkeypatch):
    keep_export(run, PROOF)
    said = []
    monkeypatch.setattr(dialogs, "show_error", lambda _parent, error: said.append(error.what))
    dialog = show(run)
    dialog.folder.click()
    qtbot.waitUntil(lambda: bool(said))
    assert said == ["model.onnx is no longer there."]


def test_texts_from_a_file_are_plain_and_short_and_a_damaged_one_is_named(show, run, qtbot):
    evil = msgspec.structs.replace(PROOF, format="<b>x</b>", path="<img src=x>" * 9_000)
    keep_export(run, evil)
    dialog = show(run)
    assert cells(dialog, 0)[0] == "<b>x</b>"
    place = dialog.table.visualRect(dialog.table.model().index(0, 0)).center()
    qtbot.mouseClick(dialog.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert dialog.status.text().startswith("<")
    assert dialog.status.textFormat() == Qt.TextFormat.PlainText
    assert len(dialog.status.text()) < 1_000
    dialog.close()
    (run.path / EXPORTS_NAME).write_text("{")
    again = show(run)
    assert "damaged" in again.status.text()
    assert again.export.isEnabled()


def test_a_run_has_one_dialog_and_a_format_of_the_menu_is_chosen_there(window, show, run):
    dialog = show(run)
    assert window.runs._export.ask(run.path, "", "savedmodel") is dialog
    assert dialog.formats.current.key == "savedmodel"


@pytest.mark.full
@pytest.mark.worker
def test_a_model_is_exported_canceled_and_exported_again(show, tmp_path, qtbot, path_chosen):
    run = make_run(tmp_path)
    dialog = show(run)
    target = tmp_path / "out" / "model.onnx"
    target.parent.mkdir()
    path_chosen(target)
    begin(qtbot, dialog, "onnx")
    dialog.stop.click()
    wait_for_end(qtbot, dialog)
    assert dialog.status.text() == "Canceled. Nothing was written."
    assert dialog.isVisible()
    assert list(target.parent.iterdir()) == []
    assert read_exports(run) == {}

    begin(qtbot, dialog, "onnx")
    qtbot.waitUntil(lambda: "Comparing" in dialog.status.text(), timeout=PATIENCE_MS)
    wait_for_end(qtbot, dialog)
    assert dialog.status.text() == "Wrote model.onnx. It agrees with the model."
    assert target.is_file()
    proof = read_exports(run)["onnx"]
    assert (proof.checked_pictures, proof.reason) == (30, "")
    shown = cells(dialog, 0)
    assert (shown[0], shown[2], shown[-1]) == ("ONNX", "30", "agrees")
    assert shown[5] == shown[6] != "–"
    assert dialog.folder.isEnabled()


@pytest.mark.worker
def test_a_wrong_export_is_red_with_its_layer_and_nothing_is_written(
    window, show, tmp_path, qtbot, path_chosen
):
    theme, run = window.context.theme, make_run(tmp_path)
    command = [sys.executable, "-P", "-m", tampering_worker.__name__]
    worker = ServiceProcess(command=command)
    dialog = show(run, ExportAction(theme, worker, window))
    target = tmp_path / "model.onnx"
    path_chosen(target)
    begin(qtbot, dialog, "onnx")
    wait_for_end(qtbot, dialog)
    assert not target.exists()
    assert red_cells(dialog, theme) == [10]
    for words in (dialog.status.text(), cells(dialog, 0)[-1]):
        assert "differs by" in words
        assert f"“{tampering_worker.LAYER}”" in words
    assert dialog.status.property("role") == "bad"
    assert dialog.details.isVisible()
    assert not dialog.folder.isEnabled()
    worker.end()


def test_the_name_of_an_export_has_no_quotes():
    onnx = run_exports()["onnx"]
    name = proposed_name("photos 2 · with Rescaling “rescaling”", onnx, [onnx], is_folder=True)
    assert name == "photos 2 with Rescaling rescaling ONNX"
