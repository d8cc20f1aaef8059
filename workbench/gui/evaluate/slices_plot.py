"""Accuracy of slices with their intervals, beside the accuracy of all images."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.core.evaluation.slices import Slice
from workbench.core.format import plural, share
from workbench.gui.kit.painted import PaintedWidget
from workbench.gui.kit.theme import Theme

MOST_ROWS = 8
"""The worst ones: the table below has all."""

_ROW_PX, _TOP_PX, _BOTTOM_PX, _RIGHT_PX = 20, 26, 22, 22
_NAME_SHARE = 0.3  # of the width, at most
_NAME_GAP_PX = 10
_SLACK_PX = 6  # figures of one width are wider than they are measured
_DOT_PX = 3.5
_SHARES = (0.0, 0.5, 1.0)


class SlicesPlot(PaintedWidget):
    """A row for each slice: a dot at its accuracy, a line over its 95% interval; dashed, the
    accuracy of all images. Slices with few images are faint.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, QSize(360, _height(MOST_ROWS)), least_px=240)
        self._title = ""
        self._slices: list[Slice] = []
        self._overall: float | None = None

    def set_slices(self, title: str, slices: Sequence[Slice], overall: float | None) -> None:
        """Shows the first of these slices, under a title; the accuracy of all images, 0..1."""
        self._title, self._slices, self._overall = title, list(slices[:MOST_ROWS]), overall
        self._hint = QSize(360, _height(len(self._slices)))
        self.setAccessibleName(title)
        self.setAccessibleDescription(
            "; ".join(
                f"{each.name}: {share(each.accuracy)} of {plural(each.count, 'image')}"
                for each in self._slices
            )
        )
        self.updateGeometry()
        self.update()

    def paint(self, painter: QPainter) -> None:
        painter.setFont(self._theme.font(12, weight=600))
        painter.setPen(QColor(self._theme.colors.text))
        middle = Qt.AlignmentFlag.AlignVCenter
        title = self._elided(painter, self._title, self.width())
        painter.drawText(QRectF(0, 0, self.width(), 18), middle, title)
        painter.setFont(self._theme.font(11, tabular=True))
        widths = [painter.fontMetrics().horizontalAdvance(each.name) for each in self._slices]
        room = int(min(max(widths, default=0) + _SLACK_PX, _NAME_SHARE * self.width()))
        left = room + _NAME_GAP_PX
        area = QRectF(self.rect()).adjusted(left, _TOP_PX, -_RIGHT_PX, -_BOTTOM_PX)
        self._paint_axis(painter, area)
        for at, each in enumerate(self._slices):
            y = area.top() + (at + 0.5) * _ROW_PX
            painter.setPen(QColor(self._theme.colors.text))
            place = QRectF(0, y - _ROW_PX / 2, room, _ROW_PX)
            name = self._elided(painter, each.name, room)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | middle, name)
            self._paint_slice(painter, area, y, each)

    def _elided(self, painter: QPainter, text: str, room_px: int) -> str:
        mode = Qt.TextElideMode.ElideMiddle
        return painter.fontMetrics().elidedText(text, mode, room_px)

    def _paint_axis(self, painter: QPainter, area: QRectF) -> None:
        colors = self._theme.colors
        for value in _SHARES:
            x = _x(area, value)
            painter.setPen(QPen(QColor(colors.line), 1))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.setPen(QColor(colors.dim))
            place = QRectF(x - 30, area.bottom() + 4, 60, 16)
            painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, share(value, 0))
        if self._overall is not None:
            x = _x(area, self._overall)
            painter.setPen(QPen(QColor(colors.dim), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))

    def _paint_slice(self, painter: QPainter, area: QRectF, y: float, each: Slice) -> None:
        colors = self._theme.colors
        color = QColor(colors.faint if each.has_few else colors.accent)
        low, high = each.interval
        painter.setPen(QPen(color, 2))
        painter.drawLine(QPointF(_x(area, low), y), QPointF(_x(area, high), y))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(_x(area, each.accuracy), y), _DOT_PX, _DOT_PX)


def _height(rows: int) -> int:
    return _TOP_PX + rows * _ROW_PX + _BOTTOM_PX


def _x(area: QRectF, value: float) -> float:
    return area.left() + value * area.width()
