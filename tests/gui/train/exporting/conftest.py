"""The Export dialog of a run, and what answers where to write."""

from __future__ import annotations

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from workbench.core.projects.project import Project
from workbench.gui.train.exporting import formats
from workbench.protocol.export import ExportProof
from workbench.runs.folder import create_run

PATIENCE_MS = 180_000
PROOF = ExportProof(
    format="onnx",
    path="/nowhere/model.onnx",
    bytes=7_800_000,
    checked_pictures=500,
    max_difference=2.4e-7,
    top1_agreement=1.0,
    accuracy=0.8921,
    model_accuracy=0.8925,
    milliseconds=0.512,
    peak_bytes=64_000_000,
    created=1.7e9,
)


@pytest.fixture
def run(tmp_path):
    """A run without weights: enough for what is shown."""
    return create_run(Project(title="Colors"), home=tmp_path)


@pytest.fixture
def show(window, qtbot):
    """A function that shows the dialog of a run, and waits for what is kept of its exports."""
    dialogs = []

    def show_it(run, action=None):
        action = action or window.runs._export
        dialogs.append(action.ask(run.path, "Colors 1 · lr 0.001"))
        qtbot.waitUntil(lambda: not dialogs[-1]._background.is_busy)
        return dialogs[-1]

    yield show_it
    for dialog in filter(shiboken6.isValid, dialogs):
        dialog.close()


@pytest.fixture
def path_chosen(monkeypatch):
    """A function that chooses the file of the next exports, or the folder to make theirs in;
    and the answer where it is there already. Returns what is asked for.
    """

    def choose(path, answer=None):
        asked = []
        monkeypatch.setattr(
            formats, "ask_choice", lambda *words, **_: (asked.append(words[-1]), answer)[1]
        )
        monkeypatch.setattr(
            formats,
            "choose_folder",
            lambda *words: (asked.append(words[1:]), str(path))[1],
        )
        monkeypatch.setattr(
            QFileDialog,
            "getSaveFileName",
            lambda *words: (asked.append(words[1:]), (str(path), words[-1]))[1],
        )
        return asked

    return choose


def begin(qtbot, dialog, key):
    """Begins an export by the keyboard, and waits for the converter."""
    dialog.formats.select(key)
    qtbot.keyClick(dialog.formats, Qt.Key.Key_Return)
    assert dialog.is_exporting
    assert dialog.stop.text() == "Cancel"
    assert dialog.formats.isEnabled()
    assert not dialog.export.isEnabled()
    qtbot.waitUntil(lambda: "Converting" in dialog.status.text(), timeout=PATIENCE_MS)


def wait_for_end(qtbot, dialog):
    qtbot.waitUntil(lambda: not dialog.is_exporting, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not dialog._background.is_busy)
