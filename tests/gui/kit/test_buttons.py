"""Buttons whose words are longer than the panel they are in."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.gui.kit.buttons import ElidedButton

WORDS = "Add GlobalAveragePooling2D and Dense with softmax"


def test_long_words_are_shortened_and_come_back(qtbot):
    panel = QWidget()
    qtbot.addWidget(panel)
    row = QHBoxLayout(panel)
    button = ElidedButton(WORDS)
    row.addWidget(button)
    row.addStretch(1)
    panel.resize(220, 60)
    panel.show()
    qtbot.waitUntil(lambda: button.text().endswith("…"))
    assert panel.minimumSizeHint().width() < 150
    assert button.toolTip() == WORDS
    panel.resize(700, 60)
    qtbot.waitUntil(lambda: button.text() == WORDS)
