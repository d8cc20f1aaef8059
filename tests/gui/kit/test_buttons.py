"""Buttons whose words are longer than the panel they are in."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.gui.classify.pictures import DropArea
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


def test_a_button_in_place_of_another_keeps_the_focus(qtbot):
    area = DropArea()
    qtbot.addWidget(area)
    area.resize(700, 200)
    area.show()
    qtbot.waitExposed(area)
    area.folder.setFocus()
    qtbot.waitUntil(area.folder.hasFocus)
    area.set_busy(True)
    assert area.cancel.hasFocus()
    area.set_busy(False)
    assert area.folder.hasFocus()
    area.open.setFocus()
    area.set_busy(True)
    assert area.open.hasFocus(), "the focus is not taken from another place"
