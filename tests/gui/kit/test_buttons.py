"""Buttons whose words are longer than the panel they are in."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.gui.kit.buttons import WrappedButton, button, show_instead
from workbench.gui.kit.layout import row

WORDS = "Add GlobalAveragePooling2D and a Dense layer with 10 units"


def test_long_words_are_wrapped_and_come_back(qtbot):
    panel = QWidget()
    qtbot.addWidget(panel)
    layout = QHBoxLayout(panel)
    wrapped = WrappedButton(WORDS)
    layout.addWidget(wrapped)
    layout.addStretch(1)
    panel.resize(260, 200)
    panel.show()
    qtbot.waitUntil(lambda: "\n" in wrapped.lines(wrapped.width()))
    lines = wrapped.lines(wrapped.width()).split("\n")
    assert " ".join(lines) == WORDS
    assert max(map(wrapped.fontMetrics().horizontalAdvance, lines)) < wrapped.width()
    assert wrapped.height() >= len(lines) * wrapped.fontMetrics().lineSpacing()
    assert wrapped.accessibleName() == WORDS
    assert panel.minimumSizeHint().width() < 150
    one_line = WrappedButton("Fix").sizeHint().height()
    panel.resize(900, 200)
    qtbot.waitUntil(lambda: wrapped.lines(wrapped.width()) == WORDS)
    assert wrapped.sizeHint().height() == one_line


def test_a_button_in_place_of_another_keeps_the_focus(qtbot):
    panel = QWidget()
    qtbot.addWidget(panel)
    first, second, other = (button(words) for words in ("Start", "Cancel", "Open"))
    row(first, second, other, parent=panel)
    second.hide()
    panel.show()
    qtbot.waitExposed(panel)
    first.setFocus()
    qtbot.waitUntil(first.hasFocus)
    show_instead(second, first)
    assert second.hasFocus()
    show_instead(first, second)
    assert first.hasFocus()
    other.setFocus()
    show_instead(second, first)
    assert other.hasFocus(), "the focus is not taken from another place"
