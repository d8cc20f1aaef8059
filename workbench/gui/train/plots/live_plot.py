"""One live plot: a faint line of every batch, a smooth one over it, the validation after
each epoch, the best epoch marked, other runs beside it, and a crosshair with exact values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame

from workbench.curves import CurveSpec
from workbench.gui.common.figure_saver import figure_file
from workbench.gui.kit.layout import column
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.axes import PlotAxes
from workbench.gui.plots.curve import LiveCurve, Outside, Span, Values
from workbench.gui.plots.header import PlotHeader
from workbench.gui.plots.scaling import XScale, robust_span, span_of, x_words
from workbench.gui.plots.smoothing import BiasCorrectedAverage, weight_of
from workbench.gui.train.plots.legend import RunReading, ValueCard
from workbench.gui.train.plots.plot_table import RunTable, csv_text
from workbench.runs.log.curve_columns import GrowingColumns, Reading, Series, epoch_at, read_at

# run curves ----------------------------------------------------------------------------------
# The lines of one run in one plot: every batch, their average, and the epochs.

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


# live plot -----------------------------------------------------------------------------------

OVERLAY_WIDTH = 1.5
NEAR_PX = 4
"""So far behind its last value a run is still read."""

FINE_TUNING = "Fine-tuning"
"""Words at the line where that phase begins."""

KEEP_RANGE = 0.6
"""The value axis stays as it is while the values fill at least this share of it: an axis
that changes with every batch cannot be read, and costs more than the curves."""


class LivePlot(QFrame):
    """The plot of one curve; a plain one is one line a run, never smoothed.

    `set_series` only stores and marks; `redraw` draws, and is called by the one timer of
    the pair. `changed` when a control needs a redraw, `all_wanted` when all values are to
    be seen again.
    """

    changed = Signal()
    all_wanted = Signal()

    def __init__(self, theme: Theme, curve: CurveSpec) -> None:
        super().__init__()
        self.curve = curve
        self._theme = theme
        self._is_plain = curve.is_plain
        self._smoothing = 0.0
        self.setProperty("role", "card")
        self.setAccessibleName(f"{curve.title} plot")
        self.setMinimumSize(340, 150 if self._is_plain else 190)
        # Shares are between 0 and 1, and a schedule has no outliers.
        self._can_ignore = not (curve.is_share or self._is_plain)
        self.header = PlotHeader(
            theme,
            curve.title,
            is_plain=self._is_plain,
            has_validation=curve.validation is not None,
            can_ignore=self._can_ignore,
        )
        self.axes = PlotAxes(theme, is_share=curve.is_share, y_words=curve.title)
        self.card = ValueCard(theme, self.axes, curve)
        self.main = RunCurves(self.axes.plot_item, self._main_look(), self._smoothing)
        self.overlays: dict[Hashable, RunCurves] = {}
        self._bounds: Span | None = None
        self._fitted: Span | None = None
        self._marked: tuple[int, int] | None = None
        self._build()
        theme.changed.connect(self._on_theme_changed)

    def _build(self) -> None:
        column(self.header, (self.axes, 1), parent=self, margins=(12, 8, 8, 8), spacing=4)
        self.header.log.toggled.connect(self._on_mode_changed)
        self.header.by_epoch.toggled.connect(self._on_mode_changed)
        for changed in (self.header.lines_changed, self.header.ignore_outliers.toggled):
            changed.connect(self._on_lines_changed)
        if not self._is_plain:
            self.axes.reserve_strip()
        self.axes.box.all_wanted.connect(self.all_wanted)
        self.axes.resized.connect(self.changed)

    @property
    def series(self) -> Series:
        """The current run's curve."""
        return self.main.series

    @property
    def is_log(self) -> bool:
        """Whether the value axis is logarithmic."""
        return self.header.log.isChecked()

    @property
    def is_by_epoch(self) -> bool:
        """Whether one point an epoch is shown instead of every batch."""
        return self.header.by_epoch.isChecked()

    @property
    def lines(self) -> Lines:
        """Which lines of each run are shown."""
        names = ("train", "validation")
        train, validation = (self.header.is_line_shown(name) for name in names)
        return Lines(self.is_by_epoch, train, validation)

    @property
    def runs(self) -> list[RunCurves]:
        """The current run and those beside it, as far as they are shown."""
        return [run for run in (self.main, *self.overlays.values()) if run.is_shown]

    def set_series(self, series: Series, scale: XScale) -> None:
        """Takes the current run's curve as it is now."""
        self.main.set_series(series, scale)

    def set_smoothing(self, epochs: float) -> None:
        """Averages each run over so many of its epochs; a plain curve never is."""
        self._smoothing = 0.0 if self._is_plain else epochs
        for run in (self.main, *self.overlays.values()):
            run.set_smoothing(self._smoothing)
        self.changed.emit()

    def set_overlays(self, runs: dict[Hashable, tuple[str, str]]) -> None:
        """Chooses the other runs: title and color by key. Known ones keep their values."""
        for key in self.overlays.keys() - runs.keys():
            self.overlays.pop(key).remove()
        for order, (key, (title, color)) in enumerate(runs.items()):
            look = self._overlay_look(color, order)
            if key not in self.overlays:
                self.overlays[key] = RunCurves(self.axes.plot_item, look, self._smoothing, title)
            self.overlays[key].title = title
            self.overlays[key].set_look(look)
        self.fit()

    def mark_epochs(self, epochs: tuple[int, int] | None) -> None:
        """Marks the current run's epochs from the first to the last; None removes the mark."""
        self._marked = epochs
        self.changed.emit()

    def clear(self) -> None:
        """Empties the current run's part, for another run."""
        self.main.clear()
        self._marked = None
        self.fit()
        self.show_crosshair(None)

    def fit(self) -> None:
        """Lets the next drawing choose the range of the value axis again, also after a zoom."""
        self._bounds = self._fitted = None

    def follow_zoom(self) -> None:
        """The x axis was zoomed: the values follow, unless theirs were chosen, too."""
        if self._fitted is not None and self.axes.y_range() == self._fitted:
            self.fit()

    def redraw(self, span: Span | None) -> None:
        """Draws what is seen.

        Args:
            span: Places of the x axis to show, with all values in sight; None keeps the
                user's zoom.
        """
        if span is not None:
            self.axes.set_x_range(span)
        seen, columns = self.axes.x_range(), self.axes.columns()
        drawn: list[Values] = []
        for run in (*self.overlays.values(), self.main):
            drawn += run.draw(seen, columns, self.lines, is_log=self.is_log)
        if self._fitted is None or self.axes.y_range() == self._fitted:
            self._fit_values(drawn)
        self._note_outside(seen)
        self._mark()

    def show_empty(self, words: str) -> None:
        """Says what comes, or what can be done, where there is nothing to be seen."""
        has_values = any(run.last_place() > 0.0 for run in self.runs)
        if has_values and not (self.lines.train or self.lines.validation):
            words = "All curves are hidden. Click a name above to show one."
        elif has_values:
            words = ""
        self.axes.show_empty(words)

    def _fit_values(self, drawn: list[Values]) -> None:
        can_ignore = self._can_ignore and not self.is_log  # logarithms have no outliers
        is_robust = can_ignore and self.header.ignore_outliers.isChecked()
        found = robust_span(drawn) if is_robust else span_of(drawn)
        if found is not None:
            self._show_values(*found)

    def _show_values(self, low: float, high: float) -> None:
        old_low, old_high = self._bounds or (low, low)
        is_inside = old_low <= low and high <= old_high
        if self._bounds is None or not is_inside or high - low < KEEP_RANGE * (old_high - old_low):
            self._bounds = (low, high)
            self.axes.set_y_range(self._bounds)
        self._fitted = self.axes.y_range()

    def _note_outside(self, seen: Span) -> None:
        """Says which points the value axis leaves out of sight."""
        values = self.axes.y_range()
        is_asked = self._can_ignore and not self.is_log and self._fitted == values
        runs = self.runs if is_asked and self.header.ignore_outliers.isChecked() else []
        found = (run.outside(seen, values, self.lines) for run in runs)
        self.axes.strip.set_note(reduce(Outside.joined, found, Outside()).words)

    def show_crosshair(self, x: float | None) -> None:
        """Moves the crosshair to the current run's step nearest to `x`, at which all runs are
        read; None hides it.
        """
        runs = [run for run in self.runs if run.last_place() > 0.0]
        if x is None or not runs:
            self.card.hide()
            self.axes.show_line(None)
            return
        place = x = min(x, max(run.last_place() for run in runs))
        main = self._reading(self.main, x) if self.main in runs else None
        if main is not None and main.reading is not None:
            found = self.main.scale.place(float(main.reading.step))
            place = found if np.isfinite(found) else x
        others = [self._reading(run, place) for run in runs if run is not self.main]
        self.axes.show_line(place)
        at = self.axes.pixel_of(QPointF(place, 0.0))
        point = QPoint(at.x(), self.axes.top_px() + 8)
        words = self._heading(main.reading if main else None, place)
        self.card.show_reading(words, main, others, point)

    def _reading(self, run: RunCurves, x: float) -> RunReading:
        """The exact values of a run nearest to a place of the x axis; none behind its end."""
        low, high = self.axes.x_range()
        color = run.look.train
        if x > run.last_place() + NEAR_PX * (high - low) / self.axes.columns():
            last = epoch_at(run.series, max(0, len(run.series.epochs) - 1))
            return RunReading(run.title, color, None, last_epoch=last)
        found = run.reading(x, by_epoch=self.is_by_epoch)
        is_smoothed = found is not None and not self.is_by_epoch
        smoothed = run.smoothed_at(found.step) if found is not None and is_smoothed else None
        return RunReading(run.title, color, found, smoothed)

    def _heading(self, reading: Reading | None, place: float) -> str:
        scale = self.main.scale
        if reading is None:
            kind = self.axes.x_axis.kind
            value = 10.0**place if scale.is_log else place
            return f"{kind} {x_words(kind, float(f'{value:.4g}'))}"
        per_epoch = self.series.steps_per_epoch
        epoch = reading.step / per_epoch if per_epoch else reading.epoch
        words = f"epoch {float(f'{epoch:.2f}'):,g}, step {reading.step:,}"
        if scale.kind in ("time", "images"):
            value = float(scale.values(np.array([reading.step]))[0])
            words += f", {x_words(scale.kind, round(value))}"
            words += " images" if scale.kind == "images" else ""
        return words

    def file_writer(self, path: Path) -> Callable[[], None]:
        """Draws the plot without its controls for a file; see `figure_file`."""
        self.show_crosshair(None)
        self.header.show_controls(is_shown=False)
        self.axes.set_caching(is_on=False)
        try:
            runs = [RunTable(run.title, run.series, run.scale) for run in self.runs]
            table = partial(csv_text, self.curve, runs)
            return figure_file(path, self, self.curve.title, table)
        finally:
            self.axes.set_caching(is_on=True)
            self.header.show_controls(is_shown=True)

    def _mark(self) -> None:
        """Dots on the epochs while they are few; a ring around the best where this curve decides
        on it, else a line at its epoch.
        """
        main, series, lines = self.main, self.series, self.lines
        places = main.scale.places(series.epoch_steps)
        dots: list[tuple[Any, Any, str]] = []
        if main.is_shown and lines.validation:
            dots.append((places, series.epoch_validation, main.look.validation))
        if main.is_shown and lines.train and self.is_by_epoch:
            dots.append((places, series.epoch_train, main.look.train))
        self.axes.set_dots(dots, is_log=self.is_log)
        start = series.fine_tuning_step if main.is_shown else None
        self.axes.show_phase(None if start is None else main.scale.place(start), FINE_TUNING)
        step = series.best_step if main.is_shown else None
        best = series.best_point(self.curve) if main.is_shown and lines.validation else None
        point = QPointF(main.scale.place(best[0]), best[1]) if best else None
        self.axes.show_best(point, series.best_words, is_log=self.is_log)
        if point is None and step is not None:
            self.axes.show_tick(main.scale.place(step), series.best_words)
        self.axes.show_span(self._marked_places() if main.is_shown else None)

    def _marked_places(self) -> Span | None:
        """The places of the x axis where the marked epochs are."""
        per_epoch = self.series.steps_per_epoch
        if self._marked is None or not per_epoch:
            return None
        first, last = self._marked
        # A logarithmic axis has no place for step 0.
        steps = (first - 1) * per_epoch or 1, last * per_epoch
        low, high = (self.main.scale.place(float(step)) for step in steps)
        return (low, high) if np.isfinite([low, high]).all() else None

    def _on_lines_changed(self) -> None:
        lines = self.lines
        self.card.set_lines(has_train=lines.train, has_validation=lines.validation)
        self.fit()
        self.changed.emit()

    def _on_mode_changed(self) -> None:
        self.axes.set_log(is_log=self.is_log)
        self.fit()
        self.all_wanted.emit()
        self.changed.emit()

    def _main_look(self) -> RunLook:
        colors = self._theme.colors
        raw_width = THICK if self._is_plain else 1.0
        return RunLook(colors.train, colors.validation, z=100.0, raw_width=raw_width)

    def _overlay_look(self, color: str, order: int) -> RunLook:
        z = 10.0 - 0.1 * order
        raw_width = OVERLAY_WIDTH if self._is_plain else 1.0
        return RunLook(color, color, 38, OVERLAY_WIDTH, z, is_dashed=True, raw_width=raw_width)

    def _on_theme_changed(self) -> None:
        colors = self._theme.colors
        self.header.color_keys()
        self.card.set_colors(colors.train, colors.validation)
        self.main.set_look(self._main_look())
        self.changed.emit()
