"""A line at the place of the x axis where a phase begins, with its name beside it."""

from __future__ import annotations

import math

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont

_TOP, _BOTTOM = 0.94, 0.06
"""Positions of the name, as a share of the plot's height from below."""


class PhaseMark(pg.InfiniteLine):  # type: ignore[misc]  # pyqtgraph ships no type information
    """Dashed, behind the curves; the name is on the side that has room.

    Args:
        is_low: The name is at the bottom: there is more room where curves rise.
    """

    def __init__(self, *, is_low: bool) -> None:
        height = _BOTTOM if is_low else _TOP
        options = {"position": height, "anchors": [(0.0, 0.5), (1.0, 0.5)]}
        super().__init__(angle=90, movable=False, label="", labelOpts=options)

    @property
    def words(self) -> str:
        """The name beside the line."""
        return str(self.label.format)

    def set_look(self, color: QColor, font: QFont) -> None:
        """Draws line and name in a color."""
        self.setPen(pg.mkPen(color, width=1.2, style=Qt.PenStyle.DashLine))
        self.label.setColor(color)
        self.label.setFont(font)

    def show_at(self, x: float | None, words: str) -> None:
        """Marks a place; None, or one that is not known, removes the line."""
        is_shown = x is not None and math.isfinite(x)
        self.setVisible(is_shown)
        if is_shown:
            self.label.setFormat(words)
            self.setPos(x)
