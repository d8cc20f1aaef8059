"""Questions of the window, answered by keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox

from workbench.gui.kit.dialogs import Answer, ask_unsaved


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        (Qt.Key.Key_S, Answer.SAVE),
        (Qt.Key.Key_D, Answer.DISCARD),
        (Qt.Key.Key_C, Answer.CANCEL),
    ],
)
def test_unsaved_changes_are_answered_by_alt_and_a_letter(qapp, key, answer):
    def press():
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        QTest.qWaitForWindowActive(box)
        QTest.keyClick(box, key, Qt.KeyboardModifier.AltModifier)
        QTimer.singleShot(10_000, box.reject)  # a key without a meaning must not hang the test

    QTimer.singleShot(0, press)
    assert ask_unsaved(None, "mynet") is answer
