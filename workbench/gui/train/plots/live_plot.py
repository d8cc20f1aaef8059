"""One live plot: a faint line of every batch, a smooth one over it, the validation after
each epoch, the best epoch marked, other runs beside it, and a crosshair with exact values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Signal
from PySide6.QtWidgets import QFrame

from workbench.curves import CurveSpec
from workbench.gui.kit.layout import column
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.axes import PlotAxes
from workbench.gui.plots.curve import Span
from workbench.gui.plots.header import PlotHeader
from workbench.gui.plots.x_scale import XScale, x_words
from workbench.gui.train.plots.export import RunTable, plot_file
from workbench.gui.train.plots.run_curves import THICK, RunCurves, RunLook
from workbench.gui.train.plots.value_card import RunReading, ValueCard
from workbench.runs.log.series import Reading, Series

OVERLAY_WIDTH = 1.5
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
        self.setProperty("role", "card")
        self.setAccessibleName(f"{curve.title} plot")
        self.setMinimumSize(340, 150 if self._is_plain else 190)
        has_validation = curve.validation is not None
        self.header = PlotHeader(
            theme, curve.title, is_plain=self._is_plain, has_validation=has_validation
        )
        self.axes = PlotAxes(theme, is_share=curve.is_share)
        self.card = ValueCard(theme, self.axes, curve)
        self.main = RunCurves(self.axes.plot_item, self._main_look(), self._span)
        self.overlays: dict[Hashable, RunCurves] = {}
        self._bounds: Span | None = None
        self._build()
        theme.changed.connect(self._on_theme_changed)

    def _build(self) -> None:
        column(self.header, (self.axes, 1), parent=self, margins=(12, 8, 8, 8), spacing=4)
        self.header.smoothing.valueChanged.connect(self._on_smoothing_changed)
        self.header.log.toggled.connect(self._on_mode_changed)
        self.header.by_epoch.toggled.connect(self._on_mode_changed)
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
    def _span(self) -> float:
        return 1.0 if self._is_plain else self.header.smoothing.span

    @property
    def runs(self) -> list[RunCurves]:
        """The current run and those beside it, as far as they are shown."""
        return [run for run in (self.main, *self.overlays.values()) if run.is_shown]

    def set_series(self, series: Series, scale: XScale) -> None:
        """Takes the current run's curve as it is now."""
        self.main.set_series(series, scale)

    def set_overlays(self, runs: dict[Hashable, tuple[str, str]]) -> None:
        """Chooses the other runs: title and color by key. Known ones keep their values."""
        for key in self.overlays.keys() - runs.keys():
            self.overlays.pop(key).remove()
        for order, (key, (title, color)) in enumerate(runs.items()):
            look = self._overlay_look(color, order)
            if key not in self.overlays:
                self.overlays[key] = RunCurves(self.axes.plot_item, look, self._span, title)
            self.overlays[key].title = title
            self.overlays[key].set_look(look)
        self.fit()

    def clear(self) -> None:
        """Empties the current run's part, for another run."""
        self.main.clear()
        self.fit()
        self.show_crosshair(None)

    def fit(self) -> None:
        """The next drawing chooses the range of the value axis again."""
        self._bounds = None

    def redraw(self, span: Span | None) -> None:
        """Draws what is seen.

        Args:
            span: Places of the x axis to show, with all values in sight; None keeps the
                user's zoom.
        """
        if span is not None:
            self.axes.set_x_range(span)
        seen, columns = self.axes.x_range(), self.axes.columns()
        bounds: list[Span] = []
        for run in (*self.overlays.values(), self.main):
            bounds += run.draw(seen, columns, is_log=self.is_log, by_epoch=self.is_by_epoch)
        if span is not None and bounds:
            self._show_values(min(b[0] for b in bounds), max(b[1] for b in bounds))
        self._mark()

    def _show_values(self, low: float, high: float) -> None:
        old_low, old_high = self._bounds or (low, low)
        is_inside = old_low <= low and high <= old_high
        if self._bounds is None or not is_inside or high - low < KEEP_RANGE * (old_high - old_low):
            self._bounds = (low, high)
            self.axes.set_y_range(self._bounds)

    def show_crosshair(self, x: float | None) -> None:
        """Moves the crosshair to the current run's step nearest to `x`; None hides it."""
        main = self._readings(x, [self.main]) if x is not None else []
        others = self._readings(x, self.overlays.values()) if x is not None else []
        if x is None or not (main or others):
            self.card.hide()
            self.axes.show_line(None)
            return
        reading = main[0].reading if main else None
        place = self.main.scale.place(float(reading.step)) if reading else x
        place = place if np.isfinite(place) else x
        self.axes.show_line(place)
        at = self.axes.pixel_of(QPointF(place, 0.0))
        point = QPoint(at.x(), self.axes.top_px() + 8)
        words = self._heading(reading, place)
        self.card.show_reading(words, main[0] if main else None, others, point)

    def _readings(self, x: float, runs: Iterable[RunCurves]) -> list[RunReading]:
        """The exact values of the runs that are shown, at the step nearest to a place."""
        by_epoch = self.is_by_epoch
        readings = ((run, run.reading(x, by_epoch=by_epoch)) for run in runs if run.is_shown)
        return [RunReading(run.title, run.look.train, found) for run, found in readings if found]

    def _heading(self, reading: Reading | None, place: float) -> str:
        scale = self.main.scale
        if reading is None:
            kind = self.axes.x_axis.kind
            value = 10.0**place if scale.is_log else place
            return f"{kind} {x_words(kind, float(f'{value:.4g}'))}"
        words = f"epoch {reading.epoch:,}, step {reading.step:,}"
        if scale.kind in ("time", "images"):
            value = float(scale.values(np.array([reading.step]))[0])
            words += f", {x_words(scale.kind, round(value))}"
            words += " images" if scale.kind == "images" else ""
        return words

    def file_writer(self, path: Path) -> Callable[[], None]:
        """Draws the plot without its controls for a file; see `plot_file`."""
        self.show_crosshair(None)
        self.header.show_controls(is_shown=False)
        self.axes.set_caching(is_on=False)
        try:
            runs = [RunTable(run.title, run.series, run.scale) for run in self.runs]
            return plot_file(path, self, self.curve, runs)
        finally:
            self.axes.set_caching(is_on=True)
            self.header.show_controls(is_shown=True)

    def _mark(self) -> None:
        """Dots on the epochs while they are few, and a ring around the best."""
        main, series = self.main, self.series
        places = main.scale.places(series.epoch_steps)
        dots: list[tuple[Any, Any, str]] = []
        if main.is_shown:
            dots.append((places, series.epoch_validation, main.look.validation))
            if self.is_by_epoch:
                dots.append((places, series.epoch_train, main.look.train))
        self.axes.set_dots(dots, is_log=self.is_log)
        best = series.best_point() if main.is_shown else None
        point = QPointF(main.scale.place(best[0]), best[1]) if best else None
        self.axes.show_best(point, series.best_words, is_log=self.is_log)

    def _on_smoothing_changed(self) -> None:
        for run in (self.main, *self.overlays.values()):
            run.set_span(self._span)
        self.changed.emit()

    def _on_mode_changed(self) -> None:
        self.axes.set_log(is_log=self.is_log)
        self.header.smoothing.setEnabled(not self.is_by_epoch)
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
        for train, validation in (self.header.swatches, self.card.swatches):
            train.set_color(colors.train)
            validation.set_color(colors.validation)
        self.main.set_look(self._main_look())
        self.changed.emit()
