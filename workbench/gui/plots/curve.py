"""One line of a plot: holds its points and draws only what the pixels can show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor

from workbench.gui.plots.pyramid import PeakPyramid

Values = np.ndarray[Any, np.dtype[np.float64]]
Steps = np.ndarray[Any, Any]
Span = tuple[float, float]

THICK = 2.0


class LiveCurve:
    """A line of growing x (rising) and y arrays of equal length.

    Args:
        plot: The pyqtgraph PlotItem it is drawn in.
        color: Colour of the line; its alpha is kept.
        width: In pixels; above 1 the line is drawn in segments, which is much faster.
        z: Higher is drawn later.
        is_smooth: Where several points share a pixel column, its middle is drawn instead
            of its lowest and highest: for averages, which have no peaks to lose.
    """

    def __init__(
        self,
        plot: Any,
        *,
        color: QColor,
        width: float = 1.0,
        z: float = 0.0,
        is_smooth: bool = False,
    ) -> None:
        self.item = pg.PlotCurveItem(antialias=True, connect="finite")
        self._width = width
        self._is_smooth = is_smooth
        self._color: QColor | None = None
        if width > 1.0:
            self.item.setSegmentedLineMode("on")
        self.item.setZValue(z)
        self.set_color(color)
        plot.addItem(self.item, ignoreBounds=True)
        self._pyramid = PeakPyramid()
        self.x: Steps = np.empty(0)
        self.y: Values = np.empty(0)

    def set_color(self, color: QColor) -> None:
        """Changes the colour of the line."""
        if color == self._color:
            return
        self._color = color
        self.item.setPen(pg.mkPen(color, width=self._width))

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

    def draw(self, span: Span, columns: int, *, is_log: bool = False) -> Span | None:
        """Draws the points in `span` of x on that many pixel columns.

        Returns:
            Lowest and highest y drawn (as on the axis), or None where nothing was.
        """
        # Needles of the array's own type: a float would copy a million integers first.
        kind = self.x.dtype.type
        start = int(np.searchsorted(self.x, kind(span[0]), side="left")) - 1
        stop = int(np.searchsorted(self.x, kind(span[1]), side="right")) + 1
        positions, y = self._pyramid.window(self.y, start, stop, columns)
        if self._is_smooth and len(positions) > 1 and positions[0] == positions[1]:
            positions, y = positions[0::2], (y[0::2] + y[1::2]) / 2.0
        if is_log:
            with np.errstate(invalid="ignore", divide="ignore"):
                y = np.where(y > 0.0, np.log10(y), np.nan)
        self.item.setData(self.x[positions], y)
        finite = y[np.isfinite(y)]
        return (float(finite.min()), float(finite.max())) if len(finite) else None
