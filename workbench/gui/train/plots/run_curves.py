"""The lines of one run in one plot: every batch, their average, and the epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtGui import QColor

from workbench.gui.plots.curve import LiveCurve, Span
from workbench.gui.plots.smoothing import BiasCorrectedAverage, weight_of
from workbench.gui.plots.x_scale import XScale
from workbench.runs.log.columns import GrowingColumns
from workbench.runs.log.series import Reading, Series, read_at

THICK = 2.0


@dataclass(frozen=True)
class RunLook:
    """How a run's lines look.

    Attributes:
        train, validation: Colors as "#rrggbb".
        raw_alpha: Opacity of the per-batch line below its average, 0..255.
        width: Line width of average and validation, in pixels.
        raw_width: Line width of the per-batch line, in pixels.
        z: Higher is drawn later.
        is_dashed: Whether dashes distinguish the validation from the training.
    """

    train: str
    validation: str
    raw_alpha: int = 80
    width: float = THICK
    z: float = 10.0
    is_dashed: bool = False
    raw_width: float = 1.0


class RunCurves:
    """Keeps the lines of a run up to date; `draw` draws those the plot shows.

    Args:
        plot: The pyqtgraph PlotItem they are drawn in.
        look: Colors and widths.
        span: Number of steps the average goes over.
        title: The run's name, for the legend and the values.
    """

    def __init__(self, plot: Any, look: RunLook, span: float, title: str = "") -> None:
        self.title = title
        self.look = look
        self.series = Series()
        self.scale = XScale()
        self.is_shown = True
        self._span = span
        width, z = look.width, look.z
        train, validation = QColor(look.train), QColor(look.validation)
        self.raw = LiveCurve(plot, color=train, width=look.raw_width, z=z + 1)
        self.smooth = LiveCurve(plot, color=train, width=width, z=z + 3, is_smooth=True)
        self.epoch_train = LiveCurve(plot, color=train, width=width, z=z + 3)
        self.epoch_validation = LiveCurve(
            plot, color=validation, width=width, z=z + 4, is_dashed=look.is_dashed
        )
        self.forget_average()

    @property
    def curves(self) -> tuple[LiveCurve, ...]:
        """All lines."""
        return self.raw, self.smooth, self.epoch_train, self.epoch_validation

    @property
    def is_smooth(self) -> bool:
        """Whether an average is drawn over the faint line of every batch: over fewer steps it
        would be the values themselves.
        """
        return self._span > 1.5

    def set_look(self, look: RunLook) -> None:
        """Follows the theme."""
        self.look = look
        self.smooth.set_color(QColor(look.train))
        self.epoch_train.set_color(QColor(look.train))
        self.epoch_validation.set_color(QColor(look.validation))

    def set_span(self, span: float) -> None:
        """Averages again, over another number of steps."""
        self._span = span
        self.forget_average()
        self.set_series(self.series, self.scale)

    def set_series(self, series: Series, scale: XScale) -> None:
        """Takes the metric as it is now; arrays begin with the values given before."""
        if series.rewinds != self.series.rewinds or len(series.values) < self._averages.size:
            self.clear()
        self.series, self.scale = series, scale
        if self.is_smooth:
            fresh = series.values[self._averages.size :]
            self._averages.append({"y": self._average.extend(fresh)})
        self.raw.set_data(series.steps, series.values)
        self.smooth.set_data(series.steps[: self._averages.size], self._averages.view("y"))
        self.epoch_train.set_data(series.epoch_steps, series.epoch_train)
        self.epoch_validation.set_data(series.epoch_steps, series.epoch_validation)

    def clear(self) -> None:
        """Forgets all values."""
        self.forget_average()
        self.series = Series()
        for curve in self.curves:
            curve.clear()

    def remove(self) -> None:
        """Takes the lines out of the plot."""
        for curve in self.curves:
            curve.remove()

    def draw(self, span: Span, columns: int, *, is_log: bool, by_epoch: bool) -> list[Span]:
        """Draws the lines that are to be seen; returns lowest and highest of each."""
        raw = QColor(self.look.train)
        raw.setAlpha(self.look.raw_alpha if self.is_smooth else 255)
        self.raw.set_color(raw)
        shown = (not by_epoch, not by_epoch and self.is_smooth, by_epoch, True)
        bounds: list[Span] = []
        for curve, is_wanted in zip(self.curves, shown, strict=True):
            is_visible = is_wanted and self.is_shown
            curve.item.setVisible(is_visible)
            if is_visible:
                drawn = curve.draw(span, columns, is_log=is_log, scale=self.scale)
                bounds += [drawn] if drawn else []
        return bounds

    def last_place(self) -> float:
        """Where the last value is on the x axis; 0.0 where there is none."""
        last = self.series.last_step
        return self.scale.place(last) if last > 0.0 else 0.0

    def first_place(self) -> float:
        """Where the first value is on the x axis; NaN where there is none."""
        steps = self.series.steps
        places = self.scale.places(steps[: 2 if len(steps) else 0])
        finite = places[np.isfinite(places)]
        return float(finite[0]) if len(finite) else float("nan")

    def reading(self, x: float, *, by_epoch: bool) -> Reading | None:
        """The exact values at the step nearest to a place of the x axis."""
        return read_at(self.series, self.scale.step_at(x), by_epoch=by_epoch)

    def forget_average(self) -> None:
        """The average is made again from the first value."""
        self._averages = GrowingColumns({"y": np.float32}, room=1024)
        self._average = BiasCorrectedAverage(weight_of(self._span))
        self.smooth.clear()
