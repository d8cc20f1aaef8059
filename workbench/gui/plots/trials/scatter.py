"""A setting of a sweep against the validation accuracy, a dot a training."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.gui.kit.theme import Theme
from workbench.gui.plots.trials.figure import TrialFigure
from workbench.gui.plots.trials.side_by_side import side_by_side

_LEFT_PX, _TOP_PX, _RIGHT_PX, _BOTTOM_PX = 52, 14, 18, 42
_LINE_PX = 16
_DOT_PX = 4.5
_APART_PX = 2 * _DOT_PX + 1
_MOST_STEPS = 2
"""To either side: still nearer to its own value than to the next."""
_TICK_ROOM_PX = 64.0


class TrialScatter(TrialFigure):
    """Dots over the values of one setting; those of stopped trainings are hollow. Those that would
    cover each other are side by side.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Validation accuracy over a setting")
        self.axis = 0

    def set_axis(self, axis: int) -> None:
        """Chooses the setting, by its place."""
        self.axis = axis
        self._corners.clear()
        self.update()

    def lay_out(self) -> list[list[QPointF]]:
        shown, places = self._shown(), self.scales[self._shown()].places
        dots = [
            (self._x(places[each.values[shown]]), self._y(self.accuracies.place(each.accuracy)))
            for each in self.trials
        ]
        return [[QPointF(*dot)] for dot in side_by_side(dots, _APART_PX, _MOST_STEPS)]

    def _shown(self) -> int:
        return min(self.axis, len(self.scales) - 1)

    def _x(self, place: float) -> float:
        return _LEFT_PX + place * (self.width() - _LEFT_PX - _RIGHT_PX)

    def _y(self, place: float) -> float:
        return self.height() - _BOTTOM_PX - place * (self.height() - _TOP_PX - _BOTTOM_PX)

    def distance_px(self, points: Sequence[QPointF], point: QPointF) -> float:
        return math.hypot(point.x() - points[0].x(), point.y() - points[0].y())

    def paint(self, painter: QPainter) -> None:
        self._paint_axes(painter)
        for trial in self.in_order():
            color = self.color(trial)
            ring = QColor(self._theme.colors.text) if self.is_stressed(trial) else color
            painter.setPen(QPen(ring, 1.8))
            ground = QColor(self._theme.colors.panel)
            painter.setBrush(ground if trial.is_stopped else color)
            size = _DOT_PX + 1.5 * self.is_stressed(trial)
            painter.drawEllipse(self.points(trial)[0], size, size)

    def _paint_axes(self, painter: QPainter) -> None:
        colors = self._theme.colors
        for place, text in self.accuracies.ticks():
            y = self._y(place)
            painter.setPen(QPen(QColor(colors.line), 1))
            painter.drawLine(QPointF(_LEFT_PX, y), QPointF(self.width() - _RIGHT_PX, y))
            room = QRectF(0, y - _LINE_PX / 2, _LEFT_PX - 6, _LINE_PX)
            self.write(painter, room, Qt.AlignmentFlag.AlignRight, text)
        bottom, width = self._y(0.0), max(1.0, self._x(1.0) - self._x(0.0))
        painter.setPen(QPen(QColor(colors.dim), 1))
        painter.drawLine(QPointF(_LEFT_PX, bottom), QPointF(self.width() - _RIGHT_PX, bottom))
        for place, text in self.scales[self._shown()].ticks(_TICK_ROOM_PX / width):
            x = self._x(place)
            painter.setPen(QPen(QColor(colors.dim), 1))
            painter.drawLine(QPointF(x, bottom), QPointF(x, bottom + 4))
            room = QRectF(x - _TICK_ROOM_PX / 2, bottom + 5, _TICK_ROOM_PX, _LINE_PX)
            self.write(painter, room, Qt.AlignmentFlag.AlignHCenter, text)
        painter.setFont(self._theme.font(11, weight=600))
        name = QRectF(_LEFT_PX, bottom + 5 + _LINE_PX, width, _LINE_PX)
        self.write(painter, name, Qt.AlignmentFlag.AlignHCenter, self.titles[self._shown()])
