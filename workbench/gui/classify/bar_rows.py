"""Rows of names, bars and figures; the first can be seen, the others are scrolled to."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QFrame, QScrollArea

from workbench.gui.kit.layout import scroll_area
from workbench.gui.kit.painted import PaintedWidget
from workbench.gui.kit.theme import Theme

NUM_ROWS = 5
"""Rows that can be seen at once; the others are scrolled to."""
ROW_PX, NAME_PX = 25, 132
_BAR_PX, _LEAST_BAR_PX = 14, 2.0
_RADIUS_PX = 4.0


class BarRows(PaintedWidget):
    """Shows all rows: `in_scroll_area` bounds its height.

    Args:
        theme: Colors and fonts.
        width_px: Its usual width.
        least_px: Its smallest width.
    """

    def __init__(self, theme: Theme, width_px: int, least_px: int) -> None:
        super().__init__(theme, QSize(width_px, ROW_PX * NUM_ROWS), least_px)

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

    def _make_room(self, num_rows: int) -> None:
        """Makes room for this many rows."""
        self._hint = QSize(self._hint.width(), ROW_PX * num_rows)
        self.updateGeometry()
        self.update()

    def _rows_seen(self, num_rows: int) -> range:
        """Indices of the rows that have to be painted."""
        seen = self.visibleRegion().boundingRect()
        return range(seen.top() // ROW_PX, min(num_rows, seen.bottom() // ROW_PX + 1))

    def _paint_name(self, painter: QPainter, row: int, room_px: int, name: str) -> None:
        """Paints the name of a row, elided, in the font that is set."""
        painter.setPen(QColor(self._theme.colors.text))
        words = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, room_px)
        place = QRectF(0, row * ROW_PX, room_px, ROW_PX)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_figure(self, painter: QPainter, row: int, right: float, figure: str) -> None:
        """Paints words that end at `right`, in the font and color that are set."""
        place = QRectF(0, row * ROW_PX, right, ROW_PX)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, figure)

    def _paint_bar(
        self, painter: QPainter, row: int, left: float, width: float, part: float, *, is_best: bool
    ) -> None:
        """Paints a part (0..1) of a bar of this width."""
        colors = self._theme.colors
        place = QRectF(left, row * ROW_PX + (ROW_PX - _BAR_PX) / 2, width, _BAR_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.field if colors.field != colors.panel else colors.hover))
        painter.drawRoundedRect(place, _RADIUS_PX, _RADIUS_PX)
        place.setWidth(max(_LEAST_BAR_PX, place.width() * min(1.0, max(0.0, part))))
        painter.setBrush(QColor(colors.accent if is_best else colors.faint))
        painter.drawRoundedRect(place, _RADIUS_PX, _RADIUS_PX)
