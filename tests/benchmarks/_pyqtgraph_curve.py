"""A line drawn with pyqtgraph's own downsampling, in the place of ours: for comparison."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg

from workbench.gui.plots.scaling import XScale


class PyqtgraphCurve:
    """What `LiveCurve` does, by `PlotDataItem` with all that makes it fast."""

    def __init__(self, plot, *, color, width=1.0, z=0.0, is_smooth=False, is_dashed=False) -> None:
        self.item = pg.PlotDataItem(
            antialias=True,
            connect="finite",
            autoDownsampleFactor=1.0,
            dynamicRangeLimit=None,
            skipFiniteCheck=True,
        )
        self._plot = plot
        self._width = width
        if width > 1.0 and not is_dashed:
            self.item.curve.setSegmentedLineMode("on")
        self.item.setZValue(z)
        self.set_color(color)
        plot.addItem(self.item, ignoreBounds=True)
        # Not before: the plot gives its own settings to what is added.
        self.item.setDownsampling(auto=True, method="mean" if is_smooth else "peak")
        self.item.setClipToView(True)
        self.clear()

    def set_color(self, color) -> None:
        """Changes the colour of the line."""
        self.item.setPen(pg.mkPen(color, width=self._width))

    def set_data(self, x, y) -> None:
        """Sets the points."""
        self.x, self.y = x, y

    def clear(self) -> None:
        """Forgets all points."""
        self.x = self.y = np.empty(0)

    def remove(self) -> None:
        """Leaves the plot."""
        self._plot.removeItem(self.item)

    def draw(self, _span, _columns, *, is_log=False, scale=None):
        """Hands over all points; returns the lowest and highest that are drawn."""
        is_by_step = scale is None or (scale.kind == "step" and not scale.is_log)
        x = self.x if is_by_step else (scale or XScale()).places(self.x)
        y = np.log10(np.where(self.y > 0.0, self.y, np.nan)) if is_log else self.y
        self.item.setData(x, y)
        _, y = self.item.getData()
        finite = y[np.isfinite(y)] if y is not None else np.empty(0)
        return (float(finite.min()), float(finite.max())) if len(finite) else None
