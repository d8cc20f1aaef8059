"""Ranked bars: a class a row, its bar, its percentage."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.core.format import share
from workbench.gui.kit.theme import Theme

ROW_PX = 25
BAR_PX = 14
NAME_PX = 132
FIGURE_PX = 64
RADIUS_PX = 4.0


class ScoreBars(QWidget):
    """Shows (name, 0..1) pairs in the order given; room for all rows is kept."""

    def __init__(self, theme: Theme, num_rows: int = 5) -> None:
        super().__init__()
        self._theme = theme
        self._num_rows = num_rows
        self.scores: list[tuple[str, float]] = []
        self.true_label = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_scores(self, scores: Sequence[tuple[str, float]], true_label: str = "") -> None:
        """Shows the first rows; the true class, where known, is marked."""
        self.scores = list(scores[: self._num_rows])
        self.true_label = true_label
        words = ", ".join(f"{name} {share(value)}" for name, value in self.scores)
        self.setAccessibleName(words)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(360, ROW_PX * self._num_rows)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, ROW_PX * self._num_rows)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for row, (name, value) in enumerate(self.scores):
            self._paint_row(painter, row, name, value)
        painter.end()

    def _paint_row(self, painter: QPainter, row: int, name: str, value: float) -> None:
        colors, theme = self._theme.colors, self._theme
        top, is_first = row * ROW_PX, row == 0
        painter.setFont(theme.font(13, weight=600 if is_first else 400, tabular=True))
        painter.setPen(QColor(colors.text))
        middle = Qt.AlignmentFlag.AlignVCenter
        words = f"{name} ✓" if name == self.true_label else name
        words = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, NAME_PX - 12)
        painter.drawText(QRectF(0, top, NAME_PX, ROW_PX), middle, words)
        right = self.width() - FIGURE_PX
        painter.drawText(
            QRectF(right, top, FIGURE_PX, ROW_PX),
            middle | Qt.AlignmentFlag.AlignRight,
            share(value),
        )
        place = QRectF(NAME_PX, top + (ROW_PX - BAR_PX) / 2, right - NAME_PX, BAR_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.field if colors.field != colors.panel else colors.hover))
        painter.drawRoundedRect(place, RADIUS_PX, RADIUS_PX)
        place.setWidth(max(2.0, place.width() * min(1.0, max(0.0, value))))
        painter.setBrush(QColor(colors.accent if is_first else colors.faint))
        painter.drawRoundedRect(place, RADIUS_PX, RADIUS_PX)
