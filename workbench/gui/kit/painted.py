"""Widgets that draw themselves."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.gui.kit.theme import Theme


class PaintedWidget(QWidget):
    """Draws itself in `paint`, again when the theme changes; only its width can grow.

    Args:
        theme: Colors and fonts.
        hint: Its usual size.
        least_px: Its smallest width.
    """

    def __init__(self, theme: Theme, hint: QSize, least_px: int) -> None:
        super().__init__()
        self._theme = theme
        self._hint = hint
        self._least_px = least_px
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return self._hint

    def minimumSizeHint(self) -> QSize:
        return QSize(self._least_px, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint(painter)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        """Draws the widget; edges are smoothed."""
        raise NotImplementedError
