"""Ranked bars: a class a row, its bar, its percentage."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter
from PySide6.QtWidgets import QScrollArea

from workbench.core.format import share
from workbench.gui.classify.bar_rows import NAME_PX, NUM_ROWS, ROW_PX, BarRows
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme

_NAME_SHARE = 0.4
"""Share of the width that names may have: longer ones are elided."""
_GAP_PX, _FIGURE_PX = 12, 64


class ScoreBars(BarRows):
    """Shows (name, 0..1) pairs in the order given; while there are none, room for the first.

    Signals:
        chosen(str): The row of this name was clicked.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, 360, least_px=240)
        self.scores: list[tuple[str, float]] = []
        self.true_label = ""
        self._longest_px = 0
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        row = int(event.position().y() // ROW_PX)
        if event.button() == Qt.MouseButton.LeftButton and 0 <= row < len(self.scores):
            self.chosen.emit(self.scores[row][0])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def set_scores(self, scores: Sequence[tuple[str, float]], true_label: str = "") -> None:
        """Shows all rows; the true class, where known, is marked."""
        self.scores = list(scores)
        self.true_label = true_label
        words = [f"{name} {share(value)}" for name, value in self.scores[:NUM_ROWS]]
        self.setAccessibleName(", ".join(words))
        self.setToolTip(plain_tip("\n".join([*words, "", "Click a class to explain it."])))
        self._longest_px = self._longest()
        self._make_room(len(self.scores) or NUM_ROWS)

    def in_scroll_area(self) -> QScrollArea:
        """The bars as high as the first rows, and at least as wide as they have to be."""
        area = super().in_scroll_area()
        bar_px = area.verticalScrollBar().sizeHint().width()
        area.setMinimumWidth(self.minimumSizeHint().width() + bar_px)
        return area

    def _longest(self) -> int:
        """The width of the longest name, in pixels."""
        metrics = QFontMetrics(self._theme.font(13, weight=600, tabular=True))
        return max((metrics.horizontalAdvance(self._words(n)) for n, _ in self.scores), default=0)

    def paint(self, painter: QPainter) -> None:
        name_px = max(NAME_PX, min(self._longest_px + _GAP_PX, int(_NAME_SHARE * self.width())))
        for row in self._rows_seen(len(self.scores)):
            self._paint_row(painter, row, name_px, *self.scores[row])

    def _words(self, name: str) -> str:
        return f"{name} ✓" if name == self.true_label else name

    def _paint_row(
        self, painter: QPainter, row: int, name_px: int, name: str, value: float
    ) -> None:
        is_best = row == 0
        painter.setFont(self._theme.font(13, weight=600 if is_best else 400, tabular=True))
        self._paint_name(painter, row, name_px - _GAP_PX, self._words(name))
        beside_px = _GAP_PX // 2 if len(self.scores) > NUM_ROWS else 0  # the scroll bar
        right = self.width() - beside_px
        self._paint_figure(painter, row, right, share(value))
        width = right - _FIGURE_PX - name_px
        self._paint_bar(painter, row, name_px, width, value, is_best=is_best)
