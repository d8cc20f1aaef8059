"""Figures of the trainings of a sweep: what values of settings came to.

Parallel coordinates and a scatter plot, which share colors, scales and the training under the
mouse.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from workbench.core.format import share
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.axes import round_values

# scale ---------------------------------------------------------------------------------------
# Positions of values along an axis: numbers evenly or by logarithm, words one after another.

_LOG_FROM = 8.0
"""Largest number over the smallest from which on an axis is logarithmic."""
_TICKS = 5
_ROOM = 0.04
"""Share of an axis that is left free beyond its first and last value."""


@dataclass(frozen=True)
class Scale:
    """An axis of 0..1.

    Attributes:
        places: Where each value, as typed, is.
    """

    places: Mapping[str, float]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Scale:
        """An axis for some values."""
        distinct = list(dict.fromkeys(texts))
        numbers = [_number(text) for text in distinct]
        if any(number is None for number in numbers):
            return cls(_spread({text: float(place) for place, text in enumerate(distinct)}))
        known = {text: float(number or 0.0) for text, number in zip(distinct, numbers, strict=True)}
        low, high = min(known.values(), default=0.0), max(known.values(), default=0.0)
        if low > 0 and high / low >= _LOG_FROM:
            known = {text: math.log(number) for text, number in known.items()}
        return cls(_spread(known))

    def ticks(self, gap: float) -> list[tuple[float, str]]:
        """Places to write a value at, at least `gap` apart."""
        found: list[tuple[float, str]] = []
        for text, place in sorted(self.places.items(), key=lambda each: each[1]):
            if not found or place - found[-1][0] >= gap:
                found.append((place, text))
        return found


@dataclass(frozen=True)
class AccuracyScale:
    """An axis of 0..1 for accuracies from `low` to `high`."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> AccuracyScale:
        """An axis with all of some values in sight."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        room = max((high - low) * _ROOM, 0.005)
        return cls(max(0.0, low - room), min(1.0, high + room))

    def place(self, value: float) -> float:
        """Position of an accuracy on the axis, 0..1 within the range."""
        return (value - self.low) / max(self.high - self.low, 1e-9)

    def ticks(self, count: int = _TICKS) -> list[tuple[float, str]]:
        """Round accuracies to write."""
        values = round_values(self.low, self.high, count)
        decimals = 0 if all(abs(100 * value - round(100 * value)) < 1e-6 for value in values) else 1
        return [(self.place(value), share(value, decimals)) for value in values]


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _spread(values: Mapping[str, float]) -> dict[str, float]:
    """Values as places; a single one is in the middle."""
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    if high <= low:
        return dict.fromkeys(values, 0.5)
    return {
        text: _ROOM + (1 - 2 * _ROOM) * (value - low) / (high - low)
        for text, value in values.items()
    }


# figure --------------------------------------------------------------------------------------
# What the figures of a sweep share: trainings, their colors, and the one that is pointed at.

TEXT_PX = 11
NEAR_PX = 9.0
_EMPTY = "Accuracies appear here as runs are trained."


@dataclass(frozen=True)
class Trial:
    """A training of a sweep.

    Attributes:
        number: Number of its combination of values.
        values: As typed, one for each setting that differs.
        accuracy: On the validation images, 0..1.
        is_stopped: Whether it was stopped before its end.
        words: All of it in words.
    """

    number: int
    values: tuple[str, ...]
    accuracy: float
    is_stopped: bool
    words: str


class TrialFigure(QWidget):
    """Draws trainings; the one near the mouse is described in a tooltip.

    Signals:
        chosen(int): A training was clicked: the number of its combination.
    """

    chosen = Signal(int)

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self.titles: tuple[str, ...] = ()
        self.trials: tuple[Trial, ...] = ()
        self.scales: tuple[Scale, ...] = ()
        self.accuracies = AccuracyScale(0.0, 1.0)
        self._marked: int | None = None
        self._near: Trial | None = None
        self._corners: dict[int, list[QPointF]] = {}  # by trial, once they are looked for
        self.setMouseTracking(True)
        self.setAccessibleName(name)
        self.setMinimumSize(260, 140)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def set_trials(self, titles: Sequence[str], trials: Sequence[Trial]) -> None:
        """Shows these trainings; the titles are those of the settings that differ."""
        self.titles, self.trials = tuple(titles), tuple(trials)
        columns = [[trial.values[place] for trial in trials] for place in range(len(titles))]
        self.scales = tuple(map(Scale.of, columns))
        self.accuracies = AccuracyScale.of([trial.accuracy for trial in trials])
        self._near = None
        self._corners.clear()
        self.setAccessibleDescription("; ".join(trial.words for trial in trials))
        self.update()

    def set_marked(self, number: int | None) -> None:
        """Stresses the trainings of one combination."""
        self._marked = number
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(560, 260)

    # what each figure is -----------------------------------------------------------------

    def lay_out(self) -> list[list[QPointF]]:
        """The corners of what is drawn for each training, in pixels of the widget."""
        raise NotImplementedError

    def distance_px(self, points: Sequence[QPointF], point: QPointF) -> float:
        """How far a point of the widget is from a training with these corners."""
        raise NotImplementedError

    def paint(self, painter: QPainter) -> None:
        """Draws axes and trainings."""
        raise NotImplementedError

    # drawing -----------------------------------------------------------------------------

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), QColor(self._theme.colors.panel))
        painter.setFont(self._theme.font(TEXT_PX, tabular=True))
        if self.trials:
            self.paint(painter)
        else:
            painter.setPen(QColor(self._theme.colors.dim))
            painter.setFont(self._theme.font())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, _EMPTY)
        painter.end()

    def in_order(self) -> list[Trial]:
        """The trainings as they are drawn: the best above the others, what is stressed on top."""
        return sorted(self.trials, key=lambda trial: (self.is_stressed(trial), trial.accuracy))

    def is_stressed(self, trial: Trial) -> bool:
        """Whether a training is pointed at or chosen."""
        return trial is self._near or trial.number == self._marked

    def color(self, trial: Trial) -> QColor:
        """From pale for the lowest accuracy to the accent for the highest."""
        colors = self._theme.colors
        low, high = QColor(colors.dim), QColor(colors.accent)
        part = min(1.0, max(0.0, self.accuracies.place(trial.accuracy)))
        ends = (
            (low.red(), high.red()),
            (low.green(), high.green()),
            (low.blue(), high.blue()),
        )
        color = QColor(*(round(start + (end - start) * part) for start, end in ends))
        if not self.is_stressed(trial):
            color.setAlphaF(0.5 + 0.5 * part)
        return color

    def write(self, painter: QPainter, place: QRectF, side: Qt.AlignmentFlag, text: str) -> None:
        """Writes dim words, shortened to their place."""
        painter.setPen(QColor(self._theme.colors.dim))
        metrics = painter.fontMetrics()
        short = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, int(place.width()))
        painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, short)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._corners.clear()

    def points(self, trial: Trial) -> list[QPointF]:
        """The corners of what is drawn for a training that is shown."""
        if not self._corners:
            found = zip(self.trials, self.lay_out(), strict=True)
            self._corners = {id(each): points for each, points in found}
        return self._corners[id(trial)]

    # the mouse ---------------------------------------------------------------------------

    def trial_at(self, point: QPointF) -> Trial | None:
        """The training near a point of the widget."""
        apart = [self.distance_px(self.points(trial), point) for trial in self.trials]
        nearest = min(range(len(apart)), key=apart.__getitem__, default=None)
        is_near = nearest is not None and apart[nearest] <= NEAR_PX
        return self.trials[nearest] if nearest is not None and is_near else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        near = self.trial_at(event.position())
        if near is not self._near:
            self._near = near
            self.update()
        words = plain_tip(near.words) if near is not None else ""
        QToolTip.showText(event.globalPosition().toPoint(), words, self)
        hand, arrow = Qt.CursorShape.PointingHandCursor, Qt.CursorShape.ArrowCursor
        self.setCursor(arrow if near is None else hand)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        near = self.trial_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and near is not None:
            self.chosen.emit(near.number)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._near = None
        self.update()


# parallel coordinates ------------------------------------------------------------------------
# Parallel coordinates: an axis for each setting and one for the accuracy, a line a training.

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


# side by side --------------------------------------------------------------------------------
# Dots that would cover each other, laid side by side.

Dot = tuple[float, float]


def side_by_side(dots: Sequence[Dot], apart: float, most: int) -> list[Dot]:
    """The dots, some of them moved to the left or right until none is nearer than `apart` to
    another one; heights stay. A dot is moved by at most so many steps of `apart`: where there is no
    free place it stays, and covers others.
    """
    steps = [0, *(side * step for step in range(1, most + 1) for side in (1, -1))]
    cells: defaultdict[Dot, list[Dot]] = defaultdict(list)
    found = []
    for x, y in dots:
        tried = ((x + step * apart, y) for step in steps)
        free = next((dot for dot in tried if _is_free(dot, cells, apart)), None)
        if free is not None:
            cells[_cell(free, apart)].append(free)
        found.append(free or (x, y))
    return found


def _is_free(dot: Dot, cells: defaultdict[Dot, list[Dot]], apart: float) -> bool:
    column, line = _cell(dot, apart)
    around = product((column - 1, column, column + 1), (line - 1, line, line + 1))
    near = (other for cell in around if cell in cells for other in cells[cell])
    return all(math.dist(dot, other) >= apart for other in near)


def _cell(dot: Dot, apart: float) -> Dot:
    """A square of the side `apart`: what is nearer than that is in it, or in one around it."""
    return (dot[0] // apart, dot[1] // apart)


# scatter -------------------------------------------------------------------------------------
# A setting of a sweep against the validation accuracy, a dot a training.

_LEFT_PX, _TOP_PX_SCATTER, _RIGHT_PX, _BOTTOM_PX_SCATTER = 52, 14, 18, 42
_LINE_PX_SCATTER = 16
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
        return (
            self.height()
            - _BOTTOM_PX_SCATTER
            - place * (self.height() - _TOP_PX_SCATTER - _BOTTOM_PX_SCATTER)
        )

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
            room = QRectF(0, y - _LINE_PX_SCATTER / 2, _LEFT_PX - 6, _LINE_PX_SCATTER)
            self.write(painter, room, Qt.AlignmentFlag.AlignRight, text)
        bottom, width = self._y(0.0), max(1.0, self._x(1.0) - self._x(0.0))
        painter.setPen(QPen(QColor(colors.dim), 1))
        painter.drawLine(QPointF(_LEFT_PX, bottom), QPointF(self.width() - _RIGHT_PX, bottom))
        for place, text in self.scales[self._shown()].ticks(_TICK_ROOM_PX / width):
            x = self._x(place)
            painter.setPen(QPen(QColor(colors.dim), 1))
            painter.drawLine(QPointF(x, bottom), QPointF(x, bottom + 4))
            room = QRectF(x - _TICK_ROOM_PX / 2, bottom + 5, _TICK_ROOM_PX, _LINE_PX_SCATTER)
            self.write(painter, room, Qt.AlignmentFlag.AlignHCenter, text)
        painter.setFont(self._theme.font(11, weight=600))
        name = QRectF(_LEFT_PX, bottom + 5 + _LINE_PX_SCATTER, width, _LINE_PX_SCATTER)
        self.write(painter, name, Qt.AlignmentFlag.AlignHCenter, self.titles[self._shown()])
