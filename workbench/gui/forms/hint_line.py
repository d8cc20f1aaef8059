"""A line of text whose placeholder is cut in its middle where it does not fit."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLineEdit

_CURSOR_PX = 4


class HintLine(QLineEdit):
    """A field of one line.

    Attributes:
        hint: The whole placeholder, e.g. the path of a folder that is used while none is chosen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.hint = ""

    def set_hint(self, hint: str) -> None:
        """Shows what stands for an empty field."""
        self.hint = hint
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cuts the placeholder for the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        margins = self.textMargins()
        room = self.contentsRect().width() - margins.left() - margins.right() - _CURSOR_PX
        middle = Qt.TextElideMode.ElideMiddle
        self.setPlaceholderText(self.fontMetrics().elidedText(self.hint, middle, room))
