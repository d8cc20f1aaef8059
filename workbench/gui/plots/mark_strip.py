"""The line of words above a plot's inner area, where they hide no value."""

from __future__ import annotations

import math
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from workbench.gui.kit.theme import Theme

HEIGHT_PX = 18
_GAP_PX = 12


class MarkStrip(pg.GraphicsWidget):  # type: ignore[misc]  # pyqtgraph ships no type information
    """Names a place of the x axis, above it, and holds a note at the other side.

    Args:
        theme: Colors and font.
        box: The inner area below.
    """

    def __init__(self, theme: Theme, box: Any) -> None:
        super().__init__()
        self._theme = theme
        self._box = box
        self._x: float | None = None
        self.words = ""
        self.note = ""
        box.sigXRangeChanged.connect(lambda *_range: self.update())
        box.sigResized.connect(lambda *_size: self.update())

    def set_mark(self, x: float | None, words: str) -> None:
        """Names a place of the x axis; None names nothing."""
        self._x, self.words = x, words if x is not None else ""
        self.update()

    def set_note(self, words: str) -> None:
        """Shows a note; "" for none."""
        if words != self.note:
            self.note = words
            self.update()

    def _words_font(self) -> QFont:
        return self._theme.font(11, weight=600, tabular=True)

    def places(self) -> tuple[tuple[QRectF, str], tuple[QRectF, str]]:
        """Rectangle and text of the mark and of the note, in this item's pixels; "" for what is not
        shown, as a mark outside the x range.
        """
        at = self._px()
        metrics = QFontMetricsF(self._words_font())
        note_px = math.ceil(metrics.horizontalAdvance(self.note))
        words = self.words if at is not None else ""
        if words and self.note and metrics.horizontalAdvance(words) + note_px > self._room():
            what, _, where = words.rpartition(": ")  # "best val. accuracy: epoch 6"
            words = f"{what.split(' ')[0]}: {where}" if what else words
        width = math.ceil(metrics.horizontalAdvance(words))
        x = max(0.0, min((at or 0.0) - width / 2, self.rect().width() - width))
        is_mark_left = x + width / 2 < self.rect().width() / 2
        note_x = self.rect().width() - note_px if is_mark_left and words else 0.0
        if words and self.note:  # both keep apart, however near the mark is to the middle
            x = min(x, note_x - _GAP_PX - width) if is_mark_left else max(x, note_px + _GAP_PX)
        height = self.rect().height()
        mark, note = QRectF(x, 0, width, height), QRectF(note_x, 0, note_px, height)
        return (mark, words), (note, self.note)

    def _room(self) -> float:
        return float(self.rect().width()) - _GAP_PX

    def _px(self) -> float | None:
        """Position of the mark, in this item's pixels; None outside the x range."""
        low, high = self._box.viewRange()[0]
        if self._x is None or not low <= self._x <= high:
            return None
        point = self._box.mapViewToScene(QPointF(self._x, 0.0))
        return float(self.mapFromScene(point).x())

    def paint(self, painter: QPainter, *_options: object) -> None:
        """Draws both."""
        colors = self._theme.colors
        (mark, words), (note, note_words) = self.places()
        painter.setFont(self._words_font())
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.setPen(colors.text)
        painter.drawText(mark, side, words)
        painter.setPen(colors.dim)  # nearly every run has it: no warning
        painter.drawText(note, side, note_words)
