"""The lines of one run in one plot: every batch, their average, and the epochs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from PySide6.QtGui import QColor

from workbench.gui.plots.curve import LiveCurve, Outside, Span, Values
from workbench.gui.plots.smoothing import BiasCorrectedAverage, weight_of
from workbench.gui.plots.x_scale import XScale
from workbench.runs.log.columns import GrowingColumns
from workbench.runs.log.series import Reading, Series, read_at

THICK = 2.0


class Lines(NamedTuple):
    """Which lines of each run a plot shows.

    Attributes:
        by_epoch: A mean for each epoch instead of every batch.
        train, validation: Whether those lines are to be seen.
    """

    by_epoch: bool = False
    train: bool = True
    validation: bool = True


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
        smoothing: Number of epochs of this run that the average goes over; 0.0 for none.
        title: The run's name, for the legend and the values.
    """

    def __init__(self, plot: Any, look: RunLook, smoothing: float, title: str = "") -> None:
        self.title = title
        self.look = look
        self.series = Series()
        self.scale = XScale()
        self.is_shown = True
        self._smoothing = smoothing
        self._span = 1.0
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

    def set_smoothing(self, epochs: float) -> None:
        """Averages again, over another number of epochs."""
        self._smoothing = epochs
        self.set_series(self.series, self.scale)

    def _choose_span(self, steps_per_epoch: int) -> None:
        """Chooses the steps to average over: by this run's own epochs, whichever runs are beside
        it.
        """
        span = max(1.0, self._smoothing * steps_per_epoch)
        if span != self._span:
            self._span = span
            self.forget_average()

    def set_series(self, series: Series, scale: XScale) -> None:
        """Takes the metric as it is now; arrays begin with the values given before."""
        if series.rewinds != self.series.rewinds or len(series.values) < self._averages.size:
            self.clear()
        self.series, self.scale = series, scale
        self._choose_span(series.steps_per_epoch)
        if self.is_smooth:
            fresh = series.values[self._averages.size :]
            self._averages.append({"y": self._average.extend(fresh)})
        self.raw.set_data(series.steps, series.values)
        self.smooth.set_data(series.steps[: self._averages.size], self._averages.view("y"))
        self.epoch_train.set_data(series.epoch_steps, series.epoch_train)
        # Where only every few epochs are validated, the line goes from one of them to the next.
        is_measured = np.isfinite(series.epoch_validation)
        self.epoch_validation.set_data(
            series.epoch_steps[is_measured], series.epoch_validation[is_measured]
        )
        for curve in self.curves:
            curve.break_at = series.values_before_gap(curve.x)

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

    def draw(self, span: Span, columns: int, lines: Lines, *, is_log: bool) -> list[Values]:
        """Draws the lines that are to be seen; returns the values of each, as on the axis."""
        raw = QColor(self.look.train)
        raw.setAlpha(self.look.raw_alpha if self.is_smooth else 255)
        self.raw.set_color(raw)
        drawn: list[Values] = []
        for curve, is_wanted in zip(self.curves, self._wanted(lines), strict=True):
            curve.item.setVisible(is_wanted)
            if is_wanted:
                drawn.append(curve.draw(span, columns, is_log=is_log, scale=self.scale))
        return drawn

    def _wanted(self, lines: Lines) -> tuple[bool, bool, bool, bool]:
        """Which of `curves` are to be seen."""
        is_train = lines.train and self.is_shown
        is_batches = is_train and not lines.by_epoch
        is_validation = lines.validation and self.is_shown
        return is_batches, is_batches and self.is_smooth, is_train and lines.by_epoch, is_validation

    def outside(self, span: Span, values: Span, lines: Lines) -> Outside:
        """Which of the points to be seen are outside the values in sight."""
        wanted = zip(self.curves, self._wanted(lines), strict=True)
        points = (curve for curve, is_wanted in wanted if is_wanted and curve is not self.smooth)
        found = (curve.outside(span, values, self.scale) for curve in points)
        return reduce(Outside.joined, found, Outside())

    def last_place(self) -> float:
        """Position of the last value on the x axis; 0.0 where there is none."""
        last = self.series.last_step
        return self.scale.place(last) if last > 0.0 else 0.0

    def first_place(self) -> float:
        """Position of the first value on the x axis; NaN where there is none."""
        steps = self.series.steps
        places = self.scale.places(steps[: 2 if len(steps) else 0])
        finite = places[np.isfinite(places)]
        return float(finite[0]) if len(finite) else float("nan")

    def reading(self, x: float, *, by_epoch: bool) -> Reading | None:
        """The exact values nearest to a place of the x axis."""
        return read_at(self.series, self.scale.step_at(x), by_epoch=by_epoch)

    def smoothed_at(self, step: int) -> float | None:
        """The average at a step of the series; None where none is drawn."""
        at = int(np.searchsorted(self.smooth.x, self.smooth.x.dtype.type(step)))
        if not self.is_smooth or at >= len(self.smooth.y) or not np.isfinite(self.smooth.y[at]):
            return None
        return float(self.smooth.y[at])

    def forget_average(self) -> None:
        """Drops the average: it is made again from the first value."""
        self._averages = GrowingColumns({"y": np.float32}, room=1024)
        self._average = BiasCorrectedAverage(weight_of(self._span))
        self.smooth.clear()
