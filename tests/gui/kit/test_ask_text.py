"""A question for a line of text: wide enough for its title and for an address."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QInputDialog, QLineEdit

from workbench.gui.kit.dialogs import ask_text


@pytest.mark.parametrize(
    ("is_accepted", "answer"), [(True, "https://a.example/b.png"), (False, None)]
)
def test_a_line_is_asked_for_in_a_dialog_with_room(qtbot, is_accepted, answer):
    seen = {}

    def respond():
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QInputDialog)
        field = dialog.findChild(QLineEdit)
        seen.update(width=field.width(), title=dialog.windowTitle(), chosen=field.selectedText())
        field.setText("https://a.example/b.png")
        dialog.done(int(is_accepted))

    QTimer.singleShot(0, respond)
    assert ask_text(None, "Image at a web address — Workbench", "Address:", "https://") == answer
    assert seen["chosen"] == "https://"
    assert seen["title"] == "Image at a web address — Workbench"
    assert seen["width"] >= 400
