"""What is typed into a field replaces its value, unless the cursor was placed by the mouse."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QLineEdit

_BY_HAND = frozenset(
    {
        Qt.FocusReason.MouseFocusReason,
        Qt.FocusReason.ActiveWindowFocusReason,
        Qt.FocusReason.PopupFocusReason,
        Qt.FocusReason.MenuBarFocusReason,
    }
)
"""Ways to get the focus that leave the cursor where it is."""


def selects_on(event: QFocusEvent) -> bool:
    """Whether a field that gets the focus in this way selects its text."""
    return event.reason() not in _BY_HAND


class _SelectOnFocus(QObject):
    """Selects the text of one line."""

    def __init__(self, line: QLineEdit) -> None:
        super().__init__(line)
        self._line = line
        line.installEventFilter(self)
        line.editingFinished.connect(self._on_finished)

    def _on_finished(self) -> None:
        if self._line.hasFocus():
            self._line.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn and selects_on(cast("QFocusEvent", event)):
            self._line.selectAll()
        return super().eventFilter(watched, event)


def select_on_focus(line: QLineEdit) -> None:
    """Selects a line's text when the focus comes by key or by program, and when it was entered.

    A click places the cursor, a double click selects.
    """
    _SelectOnFocus(line)
