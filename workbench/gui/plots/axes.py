"""The drawing area of a plot: axes, grid, crosshair line, dots and the mark of an epoch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import thread_time
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGraphicsItem

from workbench.core.format import number_text
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.curve import Span
from workbench.gui.plots.header import HEIGHT_PX, MarkStrip
from workbench.gui.plots.scaling import X_AXES, x_words

# value axis ----------------------------------------------------------------------------------
# The axes: round numbers on them, also where one is logarithmic and spans no decade.

WIDE_DECADES = 1.3
"""Decades of an axis from which on powers of ten and their multiples are enough as ticks."""

NUMBERS_PX = 46
"""Width of most numbers of a value axis."""

_LABEL_GAP_PX = 4
"""Between the numbers and the name of their axis."""

MAX_POWER = 300.0
_CLOCK_STEPS = (60, 120, 300, 600, 900, 1800, 3600, 7200, 4 * 3600, 6 * 3600, 12 * 3600, 24 * 3600)


def round_values(low: float, high: float, count: int) -> list[float]:
    """At most about `count` round numbers from `low` to `high`, evenly apart."""
    if not (0.0 < high - low < math.inf) or count < 1:
        return []
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    steps = (1.0, 2.0, 5.0, 10.0)
    step = next(power * each for each in steps if power * each >= raw * (1.0 - 1e-9))
    return _multiples(low, high, step)


def round_times(low: float, high: float, count: int) -> list[float]:
    """Round numbers of seconds from `low` to `high`: whole minutes and hours rather than hundreds
    of seconds.
    """
    if not (0.0 < high - low < math.inf) or count < 1:
        return []
    raw = (high - low) / count
    if raw < 30.0:
        return round_values(low, high, count)
    fitting = [step for step in _CLOCK_STEPS if step >= raw]
    if fitting:
        return _multiples(low, high, fitting[0])
    return [86400 * day for day in round_values(low / 86400, high / 86400, count)]


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def log_ticks(low: float, high: float, count: int) -> list[float]:
    """Logarithms of round numbers: 1, 2, 5, 10, ... or, where that is too many, powers of ten."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    for parts in ((1.0, 2.0, 5.0), (1.0,)):
        ticks = [power + math.log10(part) for power in powers for part in parts]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) <= count:
            return ticks
    return ticks[:: -(-len(ticks) // count)]


class _RoundAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph ships no type information
    """pyqtgraph marks logarithmic axes at powers of ten and their multiples only: a loss
    that goes from 1.6 to 1.5 would have an axis without a number.
    """

    gap_px = 48.0
    """Least room of a tick."""

    def __init__(self, side: str) -> None:
        super().__init__(side)
        self.enableAutoSIPrefix(False)

    def words(self, value: float) -> str:
        """The label of a tick."""
        text = f"{value:.4g}"
        return text if "e" not in text else number_text(value)

    def round_ticks(self, low: float, high: float, count: int) -> list[float]:
        """Round values between two others."""
        return round_values(low, high, count)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Ticks by level as (spacing, positions); positions are logarithms when logarithmic."""
        low, high = sorted((low, high))
        if not self.logMode or high - low > WIDE_DECADES or max(abs(low), abs(high)) > MAX_POWER:
            return self._wide_ticks(low, high, size)
        values = self.round_ticks(10.0**low, 10.0**high, max(2, int(size / self.gap_px)))
        return [(1.0, [float(np.log10(value)) for value in values if value > 0.0])]

    def _wide_ticks(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        ticks: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
        return ticks

    def logTickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The labels of the ticks, as people write numbers."""
        if values and max(values) - min(values) <= WIDE_DECADES:
            return [self.words(10.0**value) for value in values]
        words: list[str] = super().logTickStrings(values, scale, spacing)
        return words


class ValueAxis(_RoundAxis):
    """The left axis: a metric. It grows with its numbers, and never shrinks: a plot keeps its place
    while its values change.

    Args:
        is_share: Values of 0..1, written as percentages.
    """

    def __init__(self, *, is_share: bool = False) -> None:
        super().__init__("left")
        self.is_share = is_share
        self._numbers_px = NUMBERS_PX
        self._label_px = 0

    def set_label_px(self, label_px: int) -> None:
        """Keeps room for its numbers, and this many pixels for its name."""
        self._label_px = label_px
        self._take_room()

    def _take_room(self) -> None:
        self.setWidth(self._numbers_px + self._label_px)

    def _keep_room_for(self, words: list[str]) -> None:
        metrics = QFontMetrics(self.style["tickFont"] or self.font())
        widest = max(map(metrics.horizontalAdvance, words), default=0)
        needed = widest + self.style["tickTextOffset"][0] + _LABEL_GAP_PX
        if needed > self._numbers_px:
            self._numbers_px = needed
            QTimer.singleShot(0, self, self._take_room)  # numbers are written within a paint

    def words(self, value: float) -> str:
        return f"{100.0 * value:.4g}%" if self.is_share else super().words(value)

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        words: list[str] = super().tickStrings(values, scale, spacing)
        if self.is_share and not self.logMode:
            words = [self.words(value) for value in values]
        self._keep_room_for(words)
        return words


class XAxis(_RoundAxis):
    """The bottom axis: steps, epochs, seconds or images."""

    gap_px = 64.0

    def __init__(self) -> None:
        super().__init__("bottom")
        self.kind = "step"

    def words(self, value: float) -> str:
        return x_words(self.kind, value)

    def round_ticks(self, low: float, high: float, count: int) -> list[float]:
        rounded = round_times if self.kind == "time" else round_values
        return rounded(low, high, count)

    def _wide_ticks(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        ticks = log_ticks if self.logMode else self.round_ticks
        return [(1.0, ticks(low, high, max(2, int(size / self.gap_px))))]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if self.logMode:
            return self.logTickStrings(values, scale, spacing)
        return [self.words(value) for value in values]

    def logTickStrings(self, values: list[float], _scale: float, _gap: float) -> list[str]:
        return [self.words(float(f"{10.0 ** min(value, MAX_POWER):.6g}")) for value in values]


# phase mark ----------------------------------------------------------------------------------
# A line at the place of the x axis where a phase begins, with its name beside it.

_TOP, _BOTTOM = 0.94, 0.06
"""Positions of the name, as a share of the plot's height from below."""


class PhaseMark(pg.InfiniteLine):  # type: ignore[misc]  # pyqtgraph ships no type information
    """Dashed, behind the curves; the name is on the side that has room.

    Args:
        is_low: The name is at the bottom: there is more room where curves rise.
    """

    def __init__(self, *, is_low: bool) -> None:
        height = _BOTTOM if is_low else _TOP
        options = {"position": height, "anchors": [(0.0, 0.5), (1.0, 0.5)]}
        super().__init__(angle=90, movable=False, label="", labelOpts=options)

    @property
    def words(self) -> str:
        """The name beside the line."""
        return str(self.label.format)

    def set_look(self, color: QColor, font: QFont) -> None:
        """Draws line and name in a color."""
        self.setPen(pg.mkPen(color, width=1.2, style=Qt.PenStyle.DashLine))
        self.label.setColor(color)
        self.label.setFont(font)

    def show_at(self, x: float | None, words: str) -> None:
        """Marks a place; None, or one that is not known, removes the line."""
        is_shown = x is not None and math.isfinite(x)
        self.setVisible(is_shown)
        if is_shown:
            self.label.setFormat(words)
            self.setPos(x)


# zoom box ------------------------------------------------------------------------------------
# How the mouse looks around in a plot: with Ctrl the wheel zooms the x axis (with Shift too, or
# over it, the value axis), a drag draws a box, the middle button or Shift pans, a double click
# shows all. The wheel alone scrolls the page that the plot is on.


class ZoomBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph ships no type information
    """The inner area of a plot."""

    zoomed = Signal()
    all_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(enableMenu=False, defaultPadding=0.0)
        self.setMouseMode(pg.ViewBox.RectMode)
        self.disableAutoRange()
        self.sigRangeChangedManually.connect(lambda _axes: self.zoomed.emit())

    def wheelEvent(self, ev: Any, axis: int | None = None) -> None:
        """Zooms one axis: the value axis follows what is seen unless it is zoomed itself."""
        if not ev.modifiers() & Qt.KeyboardModifier.ControlModifier:
            ev.ignore()
            return
        if axis is None:
            is_shift = bool(ev.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            axis = pg.ViewBox.YAxis if is_shift else pg.ViewBox.XAxis
        self.childTransform()  # pyqtgraph reads it as it was painted last
        super().wheelEvent(ev, axis)

    def mouseDragEvent(self, ev: Any, axis: int | None = None) -> None:
        """Left draws a box; middle, or left with Shift, pans; right does nothing."""
        if ev.button() == Qt.MouseButton.RightButton:
            ev.ignore()
            return
        is_shift = bool(ev.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        is_pan = is_shift or ev.button() == Qt.MouseButton.MiddleButton
        self.state["mouseMode"] = pg.ViewBox.PanMode if is_pan else pg.ViewBox.RectMode
        super().mouseDragEvent(ev, axis)
        if ev.isFinish():
            self.zoomed.emit()

    def mouseClickEvent(self, ev: Any) -> None:
        """A double click shows everything again."""
        if ev.double():
            ev.accept()
            self.all_wanted.emit()


# axes ----------------------------------------------------------------------------------------

_LABEL_PX = 18
_X_AXIS_PX = 38
"""Numbers and name of the x axis; kept also while it has no numbers."""

_SPAN_ALPHA = 30
"""Opacity of a marked part, 0..255: curves and grid stay clear in both themes."""


class PlotAxes(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph ships no type information
    """A pyqtgraph widget in the colors of the theme.

    Args:
        theme: Colors.
        x_axis: The bottom axis; a plain one where None.
        is_share: Values of 0..1, written as percentages.
        y_words: Name of the value axis.

    Signals: `hovered` with the place of the x axis under the mouse, or None; `resized`.
    """

    hovered = Signal(object)
    resized = Signal()

    _is_empty = False
    """Whether words stand in place of values."""

    def __init__(
        self,
        theme: Theme,
        x_axis: XAxis | None = None,
        *,
        is_share: bool = False,
        y_words: str = "",
    ) -> None:
        self.box = ZoomBox()
        self.x_axis = x_axis or XAxis()
        self._y_axis = ValueAxis(is_share=is_share)
        axes = {"left": self._y_axis, "bottom": self.x_axis}
        super().__init__(viewBox=self.box, background=None, axisItems=axes)
        self._theme = theme
        self._is_log = False
        self._painting_s = 0.0
        self._spots: list[dict[str, Any]] = []
        self._x_words = X_AXES["step"]
        self._y_words = y_words
        self.plot_item = self.getPlotItem()
        self.plot_item.hideButtons()
        self.plot_item.setMenuEnabled(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(self.Shape.NoFrame)
        # One rectangle: clipped to a region of many, a path takes ten times as long.
        self.setViewportUpdateMode(self.ViewportUpdateMode.BoundingRectViewportUpdate)
        self._dots = pg.ScatterPlotItem(size=5, pen=None, antialias=True, useCache=False)
        self._ring = pg.ScatterPlotItem(size=12, brush=None, antialias=True, useCache=False)
        self._tick = pg.InfiniteLine(angle=90, movable=False)
        self._phase = PhaseMark(is_low=is_share)
        self._span = pg.LinearRegionItem(movable=False)
        self.strip = MarkStrip(theme, self.box)
        self._empty = plain_label(role="dim", wrap=True, parent=self)
        self._line = pg.InfiniteLine(angle=90, movable=False)
        self._add_marks()
        self._style()
        self.set_caching(is_on=True)
        moved = self.scene().sigMouseMoved
        self._hover = pg.SignalProxy(moved, rateLimit=60, slot=self._on_mouse_moved)
        theme.changed.connect(self._style)

    def _add_marks(self) -> None:
        marks = ((-7, self._span), (-6, self._phase), (-5, self._tick))
        for z, mark in (*marks, (205, self._dots), (206, self._ring), (208, self._line)):
            mark.setZValue(z)
            self.plot_item.addItem(mark, ignoreBounds=True)
        self._tick.hide()
        self._span.hide()
        self._phase.hide()
        self._line.hide()
        grid = self.plot_item.layout
        grid.removeItem(self.plot_item.titleLabel)
        grid.addItem(self.strip, 0, 1)
        self.x_axis.setHeight(_X_AXIS_PX)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._empty.hide()
        self.box.sigResized.connect(self._place_empty)
        for axis in (self._y_axis, self.x_axis):
            axis.setZValue(-1000)  # behind the curves: pyqtgraph's grid would cut them

    def _style(self) -> None:
        colors = self._theme.colors
        text, line = QColor(colors.dim), QColor(colors.line)
        self.setBackground(colors.panel)
        font = self._theme.font(11, tabular=True)
        for axis in (self._y_axis, self.x_axis):
            axis.setPen(pg.mkPen(line))
            axis.setTextPen(pg.mkPen(text))
            axis.setTickPen(pg.mkPen(line))
            axis.setStyle(tickLength=0, tickFont=font, tickTextOffset=6)
        label = {"color": colors.dim, "font-size": "11px"}
        self._y_axis.setLabel(self._y_words, **label)
        self._y_axis.showLabel(bool(self._y_words))
        self._y_axis.set_label_px(_LABEL_PX if self._y_words else 0)
        self._y_axis.setGrid(self._grid())
        self._y_axis.setStyle(maxTickLevel=1 if self._is_log else 0)
        self.x_axis.setLabel(self._x_words, **label)
        self.x_axis.showLabel(bool(self._x_words))
        self._line.setPen(pg.mkPen(text, style=Qt.PenStyle.DashLine))
        self._ring.setPen(pg.mkPen(QColor(colors.text), width=1.5))
        self._phase.set_look(QColor(colors.fine_tuning), self._theme.font(11))
        self._tick.setPen(pg.mkPen(text, style=Qt.PenStyle.DotLine))
        soft, edge = QColor(colors.warning), QColor(colors.warning)
        soft.setAlpha(_SPAN_ALPHA)
        self._span.setBrush(soft)
        for line in self._span.lines:
            line.setPen(pg.mkPen(edge, width=1))
        self.strip.update()

    def _grid(self) -> int | bool:
        """Opacity of the grid, 0..255."""
        return False if self._is_empty else 150

    def reserve_strip(self) -> None:
        """Keeps room above the values for words: nothing moves when they come."""
        self.plot_item.layout.setRowFixedHeight(0, HEIGHT_PX)

    def show_empty(self, words: str) -> None:
        """Says why there is nothing to see, on axes without numbers; "" for axes as usual."""
        if words == self._empty.text():
            return
        self._is_empty = bool(words)
        self._empty.setText(words)
        self._empty.setVisible(self._is_empty)
        self._y_axis.setGrid(self._grid())
        for axis in (self._y_axis, self.x_axis):
            axis.setStyle(showValues=not words)
        self._place_empty()

    def _place_empty(self, *_size: object) -> None:
        place = self.mapFromScene(self.box.sceneBoundingRect()).boundingRect()
        self._empty.setGeometry(place.adjusted(12, 0, -12, 0))

    def set_caching(self, *, is_on: bool) -> None:
        """Keeps the painted axes and grid while their ranges stay; off for files.

        Their numbers and lines are the dearest part of a plot: half of a redraw.
        """
        mode = QGraphicsItem.CacheMode
        for axis in (self._y_axis, self.x_axis):
            axis.setCacheMode(mode.DeviceCoordinateCache if is_on else mode.NoCache)

    def set_x_kind(self, kind: str, words: str, *, is_log: bool) -> None:
        """Chooses what is on the x axis (a key of X_AXES) and is written below it; places
        may be logarithms.
        """
        if (kind, is_log) != (self.x_axis.kind, self.x_axis.logMode):
            self.x_axis.kind = kind
            self.x_axis.setLogMode(x=is_log, y=False)
            self.x_axis.picture = None
            self.x_axis.update()
        if words != self._x_words:
            self._x_words = words
            self.x_axis.setLabel(words, color=self._theme.colors.dim, **{"font-size": "11px"})
            self.x_axis.showLabel(bool(words))

    def set_log(self, *, is_log: bool) -> None:
        """Chooses a logarithmic value axis; the curves hand over logarithms themselves."""
        self._is_log = is_log
        self._y_axis.setLogMode(x=False, y=is_log)
        self._y_axis.setStyle(maxTickLevel=1 if is_log else 0)

    def set_x_range(self, span: Span) -> None:
        """Shows these places of the x axis."""
        end = span[1] if span[1] > span[0] else span[0] + 1.0
        if (span[0], end) != self.x_range():
            self.box.setXRange(span[0], end, padding=0.0)

    def set_y_range(self, span: Span) -> None:
        """Shows these values (logarithms on a logarithmic axis) with a margin."""
        height = span[1] - span[0]
        # One value alone, as a constant rate, is in the middle of an axis that has numbers.
        room = height * 0.06 if height > abs(span[1]) * 1e-6 else abs(span[1]) / 2 or 1.0
        self.box.setYRange(span[0] - room, span[1] + room, padding=0.0)

    def y_range(self) -> Span:
        """The values in sight; logarithms on a logarithmic axis."""
        low, high = self.box.viewRange()[1]
        return float(low), float(high)

    def x_range(self) -> Span:
        """The places of the x axis in sight."""
        low, high = self.box.viewRange()[0]
        return float(low), float(high)

    def columns(self) -> int:
        """Width of the inner area in pixels."""
        return max(50, int(self.box.width()))

    def set_dots(self, lines: Sequence[tuple[Any, Any, str]], *, is_log: bool) -> None:
        """Dots at (x, y) of each line in its color, while they are few enough to distinguish."""
        spots: list[dict[str, Any]] = [
            {"pos": (float(x), self._y(float(y), is_log=is_log)), "brush": color}
            for xs, ys, color in lines
            if len(xs) <= 120
            for x, y in zip(xs, ys, strict=True)
            if np.isfinite(y) and (y > 0.0 or not is_log)
        ]
        if spots != self._spots:
            self._spots = spots
            self._dots.setData(spots)

    def show_best(self, point: QPointF | None, words: str, *, is_log: bool = False) -> None:
        """Rings a point and names it above the plot; None removes the mark."""
        is_shown = point is not None and np.isfinite(point.y()) and (point.y() > 0 or not is_log)
        self._ring.setVisible(is_shown)
        self.show_tick(point.x() if point is not None and is_shown else None, words)
        if point is not None and is_shown:
            self._ring.setData([{"pos": (point.x(), self._y(point.y(), is_log=is_log))}])

    def show_tick(self, x: float | None, words: str) -> None:
        """Marks a place of the x axis by a line behind the curves; None removes the line."""
        is_shown = x is not None and bool(np.isfinite(x))
        self._tick.setVisible(is_shown)
        self.strip.set_mark(x if is_shown else None, words)
        if is_shown:
            self.reserve_strip()
            self._tick.setPos(x)

    def show_phase(self, x: float | None, words: str) -> None:
        """Marks where a phase begins, by a named line behind the curves; None removes it."""
        self._phase.show_at(x, words)

    def show_span(self, span: Span | None) -> None:
        """Marks a part of the x axis by a band behind the curves; None removes it."""
        self._span.setVisible(span is not None)
        if span is not None:
            self._span.setRegion(span)

    def span(self) -> Span | None:
        """The marked part of the x axis; None for none."""
        low, high = self._span.getRegion()
        return (float(low), float(high)) if self._span.isVisible() else None

    def show_line(self, x: float | None) -> None:
        """Places the crosshair line at `x`; None hides it."""
        self._line.setVisible(x is not None)
        if x is not None:
            self._line.setPos(x)

    def pixel_of(self, point: QPointF) -> QPoint:
        """Position of a point of the data, in pixels of this widget."""
        return QPoint(self.mapFromScene(self.box.mapViewToScene(point)))

    def top_px(self) -> int:
        """Upper edge of the inner area, in pixels of this widget."""
        return int(self.mapFromScene(self.box.sceneBoundingRect().topLeft()).y())

    def _y(self, value: float, *, is_log: bool) -> float:
        return float(np.log10(value)) if is_log and value > 0.0 else value

    def _on_mouse_moved(self, args: tuple[QPointF]) -> None:
        is_inside = self.box.sceneBoundingRect().contains(args[0])
        self.hovered.emit(self.box.mapSceneToView(args[0]).x() if is_inside else None)

    def take_painting_s(self) -> float:
        """Seconds of the processor spent painting since the last call."""
        spent, self._painting_s = self._painting_s, 0.0
        return spent

    def paintEvent(self, ev: QPaintEvent) -> None:
        started = thread_time()
        super().paintEvent(ev)
        self._painting_s += thread_time() - started

    def leaveEvent(self, ev: QEvent) -> None:
        super().leaveEvent(ev)
        self.hovered.emit(None)

    def sizeHint(self) -> QSize:
        """Takes what it is given; pyqtgraph's own hint would push everything else away."""
        return QSize(320, 130)

    def resizeEvent(self, ev: QResizeEvent) -> None:
        super().resizeEvent(ev)
        self.resized.emit()
