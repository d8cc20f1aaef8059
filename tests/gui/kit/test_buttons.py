"""Buttons whose words are longer than the panel they are in."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.gui.kit.buttons import WrappedButton

WORDS = "Add GlobalAveragePooling2D and a Dense layer with 10 units"


def test_long_words_are_wrapped_and_come_back(qtbot):
    panel = QWidget()
    qtbot.addWidget(panel)
    row = QHBoxLayout(panel)
    button = WrappedButton(WORDS)
    row.addWidget(button)
    row.addStretch(1)
    panel.resize(260, 200)
    panel.show()
    qtbot.waitUntil(lambda: "\n" in button.lines(button.width()))
    lines = button.lines(button.width()).split("\n")
    assert " ".join(lines) == WORDS
    assert max(map(button.fontMetrics().horizontalAdvance, lines)) < button.width()
    assert button.height() >= len(lines) * button.fontMetrics().lineSpacing()
    assert button.accessibleName() == WORDS
    assert panel.minimumSizeHint().width() < 150
    one_line = WrappedButton("Fix").sizeHint().height()
    panel.resize(900, 200)
    qtbot.waitUntil(lambda: button.lines(button.width()) == WORDS)
    assert button.sizeHint().height() == one_line
