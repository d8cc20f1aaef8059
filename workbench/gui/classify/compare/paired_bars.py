"""Bars of two networks: a class a row, its two bars side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QFrame, QScrollArea

from workbench.core.format import share
from workbench.gui.classify.compare.agreement import PairedScore
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.layout import scroll_area
from workbench.gui.kit.painted import PaintedWidget
from workbench.gui.kit.theme import Theme

NUM_ROWS = 5
"""That can be seen at once; the others are scrolled to."""
ROW_PX, BAR_PX, NAME_PX, FIGURE_PX, GAP_PX = 25, 14, 132, 68, 16
RADIUS_PX = 4.0
ABSENT = "no class"  # of this network


class PairedBars(PaintedWidget):
    """Shows the classes of two networks, all of them: `in_scroll_area` bounds its height."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, QSize(520, ROW_PX * NUM_ROWS), least_px=360)
        self.rows: list[PairedScore] = []

    def set_rows(self, rows: Sequence[PairedScore]) -> None:
        """Shows these rows."""
        self.rows = list(rows)
        words = [f"{row.name}: {_figure(row.first)}, {_figure(row.second)}" for row in rows]
        self.setAccessibleName("; ".join(words[:NUM_ROWS]))
        self.setToolTip(plain_tip("\n".join(words[:NUM_ROWS])))
        self._hint = QSize(self._hint.width(), ROW_PX * max(1, len(self.rows)))
        self.updateGeometry()
        self.update()

    def in_scroll_area(self) -> QScrollArea:
        """The bars as high as the first rows."""
        area = scroll_area(self)
        area.setFrameShape(QFrame.Shape.NoFrame)
        for each in (self, area.viewport()):  # on the card, not on a background of their own
            each.setAutoFillBackground(False)
        area.setFixedHeight(ROW_PX * NUM_ROWS)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.verticalScrollBar().setSingleStep(ROW_PX)
        return area

    def halves(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Left end and width of the place of each network, with its figure."""
        width = (self.width() - NAME_PX - GAP_PX - (GAP_PX if self._has_bar else 0)) / 2
        return (NAME_PX, width), (NAME_PX + width + GAP_PX, width)

    @property
    def _has_bar(self) -> bool:
        return len(self.rows) > NUM_ROWS

    def paint(self, painter: QPainter) -> None:
        seen = self.visibleRegion().boundingRect()
        first, last = seen.top() // ROW_PX, seen.bottom() // ROW_PX
        best = [
            max((row.first or 0.0 for row in self.rows), default=0.0),
            max((row.second or 0.0 for row in self.rows), default=0.0),
        ]
        for number, row in enumerate(self.rows[first : last + 1], start=first):
            top = number * ROW_PX
            self._paint_name(painter, top, row.name)
            for place, value, most in zip(
                self.halves(), (row.first, row.second), best, strict=True
            ):
                self._paint_bar(painter, top, place, value, is_best=value == most)

    def _paint_name(self, painter: QPainter, top: int, name: str) -> None:
        painter.setFont(self._theme.font(13))
        painter.setPen(QColor(self._theme.colors.text))
        mode = Qt.TextElideMode.ElideMiddle
        words = painter.fontMetrics().elidedText(name, mode, NAME_PX - GAP_PX)
        painter.drawText(QRectF(0, top, NAME_PX, ROW_PX), Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_bar(
        self,
        painter: QPainter,
        top: int,
        place: tuple[float, float],
        value: float | None,
        *,
        is_best: bool,
    ) -> None:
        colors, (left, width) = self._theme.colors, place
        painter.setFont(self._theme.font(13, weight=600 if is_best else 400, tabular=True))
        painter.setPen(QColor(colors.dim if value is None else colors.text))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        figure = QRectF(left + width - FIGURE_PX, top, FIGURE_PX, ROW_PX)
        painter.drawText(figure, flags, _figure(value))
        if value is None:
            return
        bar = QRectF(left, top + (ROW_PX - BAR_PX) / 2, width - FIGURE_PX, BAR_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.field if colors.field != colors.panel else colors.hover))
        painter.drawRoundedRect(bar, RADIUS_PX, RADIUS_PX)
        bar.setWidth(max(2.0, bar.width() * min(1.0, max(0.0, value))))
        painter.setBrush(QColor(colors.accent if is_best else colors.faint))
        painter.drawRoundedRect(bar, RADIUS_PX, RADIUS_PX)


def _figure(value: float | None) -> str:
    return ABSENT if value is None else share(value)
