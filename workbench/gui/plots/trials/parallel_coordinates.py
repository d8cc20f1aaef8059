"""Parallel coordinates: an axis for each setting and one for the accuracy, a line a training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from workbench.gui.kit.theme import Theme
from workbench.gui.plots.trials.figure import Trial, TrialFigure

ACCURACY = "Validation accuracy"
_TOP_PX, _BOTTOM_PX, _SIDE_PX = 30, 12, 74
_LINE_PX = 14
_TICK_PX = 4


class ParallelCoordinates(TrialFigure):
    """Lines from axis to axis; those of stopped trainings are dashed."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Parallel coordinates")

    def lay_out(self) -> list[list[QPointF]]:
        return [self._line(trial) for trial in self.trials]

    def _line(self, trial: Trial) -> list[QPointF]:
        places = [scale.places[text] for scale, text in zip(self.scales, trial.values, strict=True)]
        places.append(self.accuracies.place(trial.accuracy))
        return [QPointF(self._x(axis), self._y(place)) for axis, place in enumerate(places)]

    def _x(self, axis: int) -> float:
        room = max(1.0, self.width() - 2.0 * _SIDE_PX)
        return _SIDE_PX + room * axis / max(1, len(self.scales))

    def _y(self, place: float) -> float:
        return self.height() - _BOTTOM_PX - place * (self.height() - _TOP_PX - _BOTTOM_PX)

    def distance_px(self, points: Sequence[QPointF], point: QPointF) -> float:
        return min(_to_line(point, *ends) for ends in pairwise(points))

    def paint(self, painter: QPainter) -> None:
        for axis in range(len(self.scales) + 1):
            self._paint_axis(painter, axis)
        for trial in self.in_order():
            style = Qt.PenStyle.DashLine if trial.is_stopped else Qt.PenStyle.SolidLine
            # Qt draws thin lines thirty times as fast as wide ones.
            width = 3.0 if self.is_stressed(trial) else 1.0
            painter.setPen(QPen(self.color(trial), width, style))
            painter.drawPolyline(QPolygonF(self.points(trial)))
        for axis in range(len(self.scales) + 1):
            self._paint_ticks(painter, axis)

    def _paint_axis(self, painter: QPainter, axis: int) -> None:
        painter.setPen(QPen(QColor(self._theme.colors.dim), 1))
        x = self._x(axis)
        painter.drawLine(QPointF(x, self._y(0.0)), QPointF(x, self._y(1.0)))
        room = self._x(1) - self._x(0) - 8
        # The last name ends at the edge, as others it is above the middle of its axis.
        place = QRectF(x - room / 2, 2, room, _LINE_PX + 4)
        side = Qt.AlignmentFlag.AlignHCenter
        if place.right() > self.width():
            place, side = QRectF(self.width() - room - 4, 2, room, 18), Qt.AlignmentFlag.AlignRight
        elif place.left() < 0:
            place, side = QRectF(4, 2, room, 18), Qt.AlignmentFlag.AlignLeft
        title = self.titles[axis] if axis < len(self.titles) else ACCURACY
        painter.setFont(self._theme.font(11, weight=600))
        self.write(painter, place, side, title)
        painter.setFont(self._theme.font(11, tabular=True))

    def _paint_ticks(self, painter: QPainter, axis: int) -> None:
        """Paints ticks on the paper's color: the lines run below them."""
        is_last = axis == len(self.scales)
        gap = (_LINE_PX + 2) / max(1.0, self._y(0.0) - self._y(1.0))
        ticks = self.accuracies.ticks() if is_last else self.scales[axis].ticks(gap)
        ground = QColor(self._theme.colors.panel)
        ground.setAlphaF(0.8)
        for place, text in ticks:
            x, y = self._x(axis), self._y(place)
            painter.setPen(QPen(QColor(self._theme.colors.dim), 1))
            painter.drawLine(QPointF(x - _TICK_PX, y), QPointF(x + _TICK_PX, y))
            width = min(_SIDE_PX - 10.0, painter.fontMetrics().horizontalAdvance(text) + 4.0)
            left = x + _TICK_PX + 2 if is_last else x - _TICK_PX - 2 - width
            room = QRectF(left, y - _LINE_PX / 2, width, _LINE_PX)
            painter.fillRect(room, ground)
            side = Qt.AlignmentFlag.AlignLeft if is_last else Qt.AlignmentFlag.AlignRight
            self.write(painter, room, side, text)


def _to_line(point: QPointF, start: QPointF, end: QPointF) -> float:
    """Distance of a point from the line between two others."""
    along = end - start
    length = QPointF.dotProduct(along, along)
    part = QPointF.dotProduct(point - start, along) / length if length else 0.0
    nearest = start + along * min(1.0, max(0.0, part))
    return math.hypot(point.x() - nearest.x(), point.y() - nearest.y())
