"""What short trainings with a few learning rates came to: accuracy over the rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor

from workbench.core.format import plural, rate_text, share
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.axes import PlotAxes
from workbench.gui.plots.sweep_plot import RateAxis


@dataclass(frozen=True)
class TrialPoint:
    """A short training.

    Attributes:
        rate: Learning rate.
        steps: Its length.
        accuracy: Training accuracy at its end, 0..1; None where it diverged.
    """

    rate: float
    steps: int
    accuracy: float | None

    @property
    def words(self) -> str:
        """The point in words."""
        found = "diverged" if self.accuracy is None else f"{share(self.accuracy)} accuracy"
        return f"learning rate {rate_text(self.rate)}: {found} after {plural(self.steps, 'step')}"


class TrialPlot(PlotAxes):
    """Accuracy over the learning rate, a line for each length of training; the suggested rate is
    ringed, and the good range is a band. The mouse reads the nearest rate (tooltip).
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, RateAxis(), is_share=True)
        self.setAccessibleName("Training accuracy over learning rate")
        self.setMinimumSize(240, 90)
        self._points: list[TrialPoint] = []
        self._suggested: float | None = None
        self._good: tuple[float, float] | None = None
        self.short = pg.PlotCurveItem(antialias=True)
        self.long = pg.PlotCurveItem(antialias=True)
        self.band = pg.LinearRegionItem(movable=False, pen=pg.mkPen(None))
        for z, item in ((5, self.band), (10, self.short), (11, self.long)):
            item.setZValue(z)
            self.plot_item.addItem(item, ignoreBounds=True)
        self.set_x_kind("step", "learning rate", is_log=True)
        self.reserve_strip()  # for the words of the ring, which come last
        self.box.setMouseEnabled(x=False, y=False)
        self.hovered.connect(self._on_hovered)
        theme.changed.connect(self._draw)
        self._draw()

    def set_points(
        self,
        points: Sequence[TrialPoint],
        suggested: float | None = None,
        good: Sequence[float] = (),
    ) -> None:
        """Shows what was tried; call again while points arrive.

        Args:
            points: The trainings in any order.
            suggested: The proposed rate, None while there is none.
            good: Lowest and highest of the good rates, or nothing.
        """
        self._points = list(points)
        self._suggested = suggested
        self._good = (good[0], good[-1]) if good else None
        self.setAccessibleDescription("; ".join(point.words for point in points))
        self._draw()

    def _draw(self) -> None:
        colors = self._theme.colors
        self.short.setPen(pg.mkPen(QColor(colors.dim)))
        self.long.setPen(pg.mkPen(QColor(colors.train), width=2.0))
        longest = max((point.steps for point in self._points), default=0)
        lengths = {point.steps for point in self._points}
        long = [p for p in self._points if p.steps == longest and len(lengths) > 1]
        short = [p for p in self._points if p not in long]
        lines = []
        for curve, points, color in (
            (self.short, short, colors.dim),
            (self.long, long, colors.train),
        ):
            x, y = _curve(points)
            curve.setData(x, y)
            lines.append((x, y, color))
        self.set_dots(lines, is_log=False)
        self._fit()
        self._mark(long or short)

    def _fit(self) -> None:
        values = [point.accuracy or 0.0 for point in self._points]
        self.set_y_range((min(values, default=0.0), max(values, default=1.0)))

    def _mark(self, decisive: Sequence[TrialPoint]) -> None:
        self.band.setVisible(self._good is not None)
        if self._good is not None:
            ground = QColor(self._theme.colors.good)
            ground.setAlpha(38)
            self.band.setBrush(ground)
            low, high = (float(np.log10(rate)) for rate in self._good)
            self.band.setRegion((low - 0.1, high + 0.1))
        chosen = [point for point in decisive if point.rate == self._suggested]
        if not chosen or self._suggested is None:
            self.show_best(None, "")
            return
        place = QPointF(float(np.log10(self._suggested)), chosen[0].accuracy or 0.0)
        self.show_best(place, f"suggested: {rate_text(self._suggested)}")

    def _on_hovered(self, x: object) -> None:
        tip = ""
        if isinstance(x, float) and self._points:
            apart = [abs(float(np.log10(point.rate)) - x) for point in self._points]
            near = [p for p, gap in zip(self._points, apart, strict=True) if gap == min(apart)]
            tip = max(near, key=lambda point: point.steps).words
        self.setToolTip(tip)


def _curve(points: Sequence[TrialPoint]) -> tuple[list[float], list[float]]:
    """Logarithms of the rates, rising, and the accuracies; what diverged has none."""
    ranked = sorted(points, key=lambda point: point.rate)
    return [float(np.log10(p.rate)) for p in ranked], [p.accuracy or 0.0 for p in ranked]
