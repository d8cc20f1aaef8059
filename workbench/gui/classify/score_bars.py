"""Ranked bars: a class a row, its bar, its percentage."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter
from PySide6.QtWidgets import QFrame, QScrollArea

from workbench.core.format import share
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import scroll_area
from workbench.gui.kit.painted import PaintedWidget
from workbench.gui.kit.theme import Theme

NUM_ROWS = 5
"""That can be seen at once; the others are scrolled to."""
ROW_PX = 25
BAR_PX = 14
NAME_PX = 132
NAME_SHARE = 0.4
"""Of the width: a name may be longer than usual up to here, then it is elided."""
_GAP_PX = 12
FIGURE_PX = 64
RADIUS_PX = 4.0


class ScoreBars(PaintedWidget):
    """Shows (name, 0..1) pairs in the order given, all of them: `in_scroll_area` bounds its height.
    Room for the first rows is kept.

    Signals:
        chosen(str): The row of this name was clicked.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, QSize(360, ROW_PX * NUM_ROWS), least_px=240)
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
        self._hint = QSize(self._hint.width(), ROW_PX * max(NUM_ROWS, len(self.scores)))
        self._longest_px = self._longest()
        self.updateGeometry()
        self.update()

    def in_scroll_area(self) -> QScrollArea:
        """The bars as high as the first rows."""
        area = scroll_area(self)
        area.setFrameShape(QFrame.Shape.NoFrame)
        for each in (self, area.viewport()):  # on the card, not on a background of their own
            each.setAutoFillBackground(False)
        area.setFixedHeight(ROW_PX * NUM_ROWS)
        bar_px = area.verticalScrollBar().sizeHint().width()
        area.setMinimumWidth(self.minimumSizeHint().width() + bar_px)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.verticalScrollBar().setSingleStep(ROW_PX)
        return area

    def _longest(self) -> int:
        """The width of the longest name, in pixels."""
        metrics = QFontMetrics(self._theme.font(13, weight=600, tabular=True))
        return max((metrics.horizontalAdvance(self._words(n)) for n, _ in self.scores), default=0)

    def paint(self, painter: QPainter) -> None:
        name_px = max(NAME_PX, min(self._longest_px + _GAP_PX, int(NAME_SHARE * self.width())))
        seen = self.visibleRegion().boundingRect()
        first, last = seen.top() // ROW_PX, seen.bottom() // ROW_PX
        for row, (name, value) in enumerate(self.scores[first : last + 1], start=first):
            self._paint_row(painter, row, name_px, name, value)

    def _words(self, name: str) -> str:
        return f"{name} ✓" if name == self.true_label else name

    def _paint_row(
        self, painter: QPainter, row: int, name_px: int, name: str, value: float
    ) -> None:
        colors, theme = self._theme.colors, self._theme
        top, is_first = row * ROW_PX, row == 0
        painter.setFont(theme.font(13, weight=600 if is_first else 400, tabular=True))
        painter.setPen(QColor(colors.text))
        middle = Qt.AlignmentFlag.AlignVCenter
        words, mode = self._words(name), Qt.TextElideMode.ElideMiddle
        words = painter.fontMetrics().elidedText(words, mode, name_px - _GAP_PX)
        painter.drawText(QRectF(0, top, name_px, ROW_PX), middle, words)
        beside_px = _GAP_PX // 2 if len(self.scores) > NUM_ROWS else 0  # the scroll bar
        right = self.width() - FIGURE_PX - beside_px
        figure = QRectF(right, top, FIGURE_PX, ROW_PX)
        painter.drawText(figure, middle | Qt.AlignmentFlag.AlignRight, share(value))
        place = QRectF(name_px, top + (ROW_PX - BAR_PX) / 2, right - name_px, BAR_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.field if colors.field != colors.panel else colors.hover))
        painter.drawRoundedRect(place, RADIUS_PX, RADIUS_PX)
        place.setWidth(max(2.0, place.width() * min(1.0, max(0.0, value))))
        painter.setBrush(QColor(colors.accent if is_first else colors.faint))
        painter.drawRoundedRect(place, RADIUS_PX, RADIUS_PX)
