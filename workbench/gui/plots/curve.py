"""One line of a plot: holds its points and draws only what the pixels can show."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from workbench.core.format import plural
from workbench.gui.plots.scaling import LONGEST_START, PeakPyramid, Positions, XScale

Values = np.ndarray[Any, np.dtype[Any]]
Steps = np.ndarray[Any, Any]
Span = tuple[float, float]

LOG_PARTS = 24
"""A logarithmic x axis is drawn in so many parts, each with its own share of the columns:
otherwise a long run would have one point for all of its first decades."""


class Outside(NamedTuple):
    """Points that an axis leaves out of sight.

    Attributes:
        number: How many they are.
        highest: The highest of them.
        is_start: All belong to the start of their lines.
    """

    number: int = 0
    highest: float = -math.inf
    is_start: bool = True

    def joined(self, other: Outside) -> Outside:
        """Combines what is outside the view with that of another line."""
        highest = max(self.highest, other.highest)
        return Outside(self.number + other.number, highest, self.is_start and other.is_start)

    @property
    def words(self) -> str:
        """A note below the plot's title; "" where nothing is left out."""
        if self.number and self.is_start:
            return f"First values up to {float(f'{self.highest:.3g}'):,g} are above the chart"
        return f"{plural(self.number, 'outlier')} not shown" if self.number else ""


class LiveCurve:
    """A line of growing steps (rising) and values of equal length.

    Args:
        plot: The pyqtgraph PlotItem it is drawn in.
        color: Color of the line; its alpha is kept.
        width: In pixels; above 1 the line is drawn in segments, which is much faster.
        z: Higher is drawn later.
        is_smooth: Where several points share a pixel column, its middle is drawn instead
            of its lowest and highest: for averages, which have no peaks to lose.
        is_dashed: For lines of few points.

    Attributes:
        break_at: The line is interrupted before the point of this number; 0 for nowhere.
    """

    def __init__(
        self,
        plot: Any,
        *,
        color: QColor,
        width: float = 1.0,
        z: float = 0.0,
        is_smooth: bool = False,
        is_dashed: bool = False,
    ) -> None:
        self.item = pg.PlotCurveItem(antialias=True, connect="finite")
        self._plot = plot
        self._width = width
        self._is_smooth = is_smooth
        self._style = Qt.PenStyle.DashLine if is_dashed else Qt.PenStyle.SolidLine
        self._color: QColor | None = None
        if width > 1.0 and not is_dashed:
            self.item.setSegmentedLineMode("on")
        self.item.setZValue(z)
        self.set_color(color)
        plot.addItem(self.item, ignoreBounds=True)
        self._pyramid = PeakPyramid()
        self.break_at = 0
        self.x: Steps = np.empty(0)
        self.y: Values = np.empty(0)

    def set_color(self, color: QColor) -> None:
        """Changes the color of the line."""
        if color == self._color:
            return
        self._color = QColor(color)
        self.item.setPen(pg.mkPen(color, width=self._width, style=self._style))

    def set_data(self, x: Steps, y: Values) -> None:
        """Takes arrays that begin with the points given before; call clear() otherwise."""
        if len(y) < self._pyramid.count:
            self.clear()
        self.x, self.y = x, y
        self._pyramid.extend(y)

    def clear(self) -> None:
        """Forgets all points."""
        self._pyramid = PeakPyramid()
        self.x = self.y = np.empty(0)

    def remove(self) -> None:
        """Leaves the plot."""
        self._plot.removeItem(self.item)

    def draw(
        self, span: Span, columns: int, *, is_log: bool = False, scale: XScale | None = None
    ) -> Values:
        """Draws the points in `span` of the x axis on that many pixel columns.

        Args:
            span: Places on the axis.
            columns: Width in pixels.
            is_log: Whether the value axis is logarithmic.
            scale: Turns steps into places; steps themselves without one.

        Returns:
            Each y drawn, as on the axis; NaN for a gap.
        """
        scale = scale or XScale()
        if self._is_smooth:
            # At every second pixel: the eye sees no difference, and it costs half.
            columns = max(1, columns // 2)
        positions, y, is_grouped = self._points(scale, span, columns)
        if is_log:
            with np.errstate(invalid="ignore", divide="ignore"):
                y = np.where(y > 0.0, np.log10(y), np.nan)
        # Upright strokes side by side look the same without it, and cost a fifth.
        self.item.opts["antialias"] = not (is_grouped and self._width <= 1.0)
        x = scale.places(self.x[positions])
        at = int(np.searchsorted(positions, self.break_at))
        if 0 < at < len(y):
            x, y = np.insert(x, at, x[at]), np.insert(y, at, np.nan)
        self.item.setData(x, y)
        return y

    def outside(self, span: Span, values: Span, scale: XScale) -> Outside:
        """Which of all points in `span` of the x axis are below or above `values`."""
        start, stop = (self._index(scale.step_at(place)) for place in span)
        start = max(0, start)
        y = self.y[start : stop + 1]
        at = np.flatnonzero((y < values[0]) | (y > values[1]))
        if not len(at):
            return Outside()
        is_start = start + int(at[-1]) < LONGEST_START * len(self.y)
        return Outside(len(at), float(np.max(y[at])), is_start)

    def _points(self, scale: XScale, span: Span, columns: int) -> tuple[Positions, Values, bool]:
        if not scale.is_log:
            start, stop = (self._index(scale.step_at(place)) for place in span)
            return self._window(start - 1, stop + 1, columns)
        edges = [self._index(scale.step_at(x)) for x in np.linspace(*span, LOG_PARTS + 1)]
        edges[0], edges[-1] = edges[0] - 1, edges[-1] + 1
        parts = [
            self._window(start, stop, max(1, columns // LOG_PARTS))
            for start, stop in pairwise(edges)
            if start < stop
        ]
        if not parts:
            return np.empty(0, dtype=np.int64), self.y[:0], False
        # Groups begin at multiples of their size, so a part may reach into the one before.
        positions = np.maximum.accumulate(np.concatenate([part[0] for part in parts]))
        return positions, np.concatenate([part[1] for part in parts]), any(p[2] for p in parts)

    def _index(self, step: float) -> int:
        """How many points are before a step."""
        kind = self.x.dtype
        needle = np.clip(np.ceil(step), -1, 2e9) if kind.kind == "i" else step
        # A needle of the array's own type: a float would copy a million integers first.
        return int(np.searchsorted(self.x, kind.type(needle)))

    def _window(self, start: int, stop: int, columns: int) -> tuple[Positions, Values, bool]:
        positions, y = self._pyramid.window(self.y, start, stop, columns)
        is_grouped = len(positions) > 1 and bool(positions[0] == positions[1])
        if is_grouped and self._is_smooth:
            positions, y = positions[0::2], (y[0::2] + y[1::2]) / 2.0
        return positions, y, is_grouped
