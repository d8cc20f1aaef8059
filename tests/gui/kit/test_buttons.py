"""Buttons whose words are longer than the panel they are in."""

from __future__ import annotations

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.gui.kit.buttons import WrappedButton, button, show_instead
from workbench.gui.kit.layout import row
from workbench.gui.kit.theme import Theme

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


def test_a_link_with_the_focus_is_underlined_no_frame_cuts_its_letters(qtbot, qapp):
    theme = Theme("light")
    theme.apply(qapp)
    link = button("Execution settings", role="link")
    qtbot.addWidget(link)
    link.show()
    link.clearFocus()
    before = link.grab().toImage()
    link.activateWindow()
    link.setFocus()
    qtbot.waitUntil(link.hasFocus)
    picture = link.grab().toImage()
    assert picture != before
    accent, ends = QColor(theme.colors.accent), (0, picture.width() - 1)
    places = [(x, y) for x in ends for y in range(picture.height())]
    assert not [place for place in places if picture.pixelColor(*place) == accent]


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
