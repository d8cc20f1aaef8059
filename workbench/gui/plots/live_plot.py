"""One live plot: a faint line of every batch, a smooth one over it, the validation after
each epoch, the best epoch marked, and a crosshair with exact values.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame, QVBoxLayout

from workbench.gui.plots.axes import PlotAxes
from workbench.gui.plots.curve import THICK, LiveCurve, Span
from workbench.gui.plots.export import save_plot
from workbench.gui.plots.header import PlotHeader
from workbench.gui.plots.series import Reading, Series, read_at
from workbench.gui.plots.smoothing import BiasCorrectedAverage, weight_of
from workbench.gui.plots.value_card import ValueCard
from workbench.gui.theme import Theme

RAW_ALPHA = 80


class LivePlot(QFrame):
    """The plot of one metric.

    `set_series` only stores and marks; `redraw` draws, and is called by the one timer of
    the pair. Signals: `hovered` with the step under the mouse (None when it leaves),
    `changed` when a control asks for a redraw, `zoomed` and `all_wanted` from the mouse.
    """

    hovered = Signal(object)
    changed = Signal()
    zoomed = Signal()
    all_wanted = Signal()

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("role", "card")
        self.setAccessibleName(f"{title} plot")
        self.setMinimumSize(340, 190)
        self.header = PlotHeader(theme, title)
        self.axes = PlotAxes(theme)
        self.card = ValueCard(theme, self.axes)
        self.series = Series()
        self._averaged = 0
        self._smooth_y: np.ndarray[Any, np.dtype[np.float64]] = np.empty(0)
        self._add_curves()
        self._build()
        theme.changed.connect(self._on_theme_changed)

    def _add_curves(self) -> None:
        item = self.axes.plot_item
        train, validation = self._color("train"), self._color("validation")
        self.raw = LiveCurve(item, color=self._color("train", RAW_ALPHA), z=1)
        self.smooth = LiveCurve(item, color=train, width=THICK, z=3, is_smooth=True)
        self.epoch_train = LiveCurve(item, color=train, width=THICK, z=3)
        self.epoch_validation = LiveCurve(item, color=validation, width=THICK, z=4)
        self._average = BiasCorrectedAverage(weight_of(self.header.smoothing_span))

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 8, 8)
        column.setSpacing(4)
        column.addWidget(self.header)
        column.addWidget(self.axes, 1)
        self.header.smoothing_changed.connect(self._on_smoothing_changed)
        self.header.log.toggled.connect(self._on_mode_changed)
        self.header.by_epoch.toggled.connect(self._on_mode_changed)
        self.axes.box.zoomed.connect(self.zoomed)
        self.axes.box.zoomed.connect(self.changed)
        self.axes.box.all_wanted.connect(self.all_wanted)
        self.axes.hovered.connect(self.hovered)
        self.axes.resized.connect(self.changed)

    @property
    def title(self) -> str:
        """What is plotted, e.g. "Loss"."""
        return self.header.title.text()

    @property
    def is_log(self) -> bool:
        """Whether the value axis is logarithmic."""
        return self.header.log.isChecked()

    @property
    def is_by_epoch(self) -> bool:
        """Whether one point an epoch is shown instead of every batch."""
        return self.header.by_epoch.isChecked()

    @property
    def _is_smooth(self) -> bool:
        return self.header.smoothing_span > 1.5

    def set_series(self, series: Series) -> None:
        """Takes the metric as it is now; arrays begin with the values given before."""
        if len(series.values) < self._averaged:
            self._forget()
        self.series = series
        fresh = series.values[self._averaged :]
        if len(fresh):
            self._append_smooth(self._average.extend(fresh))
        self.raw.set_data(series.steps, series.values)
        self.smooth.set_data(series.steps, self._smooth_y[: self._averaged])
        self.epoch_train.set_data(series.epoch_steps, series.epoch_train)
        self.epoch_validation.set_data(series.epoch_steps, series.epoch_validation)
        self.axes.set_steps_per_epoch(series.steps_per_epoch)

    def clear(self) -> None:
        """Empties the plot, for another run."""
        self._forget()
        self.series = Series()
        for curve in (self.raw, self.epoch_train, self.epoch_validation):
            curve.clear()
        self.show_crosshair(None)

    def redraw(self, span: Span | None) -> None:
        """Draws what is seen.

        Args:
            span: Steps to show, with all values in sight; None keeps the user's zoom.
        """
        if span is not None:
            self.axes.set_x_range(span)
        shown_span = self.axes.x_range()
        self.raw.set_color(self._color("train", RAW_ALPHA if self._is_smooth else 255))
        bounds: list[Span] = []
        for curve, is_shown in self._shown():
            curve.item.setVisible(is_shown)
            if is_shown:
                drawn = curve.draw(shown_span, self.axes.columns(), is_log=self.is_log)
                bounds += [drawn] if drawn else []
        if span is not None and bounds:
            self.axes.set_y_range((min(b[0] for b in bounds), max(b[1] for b in bounds)))
        self._mark()

    def reading(self, x: float) -> Reading | None:
        """The exact values at the step nearest to `x`."""
        return read_at(self.series, x, by_epoch=self.is_by_epoch)

    def show_crosshair(self, x: float | None) -> None:
        """Moves the crosshair to the step nearest to `x`; None hides it."""
        reading = None if x is None else self.reading(x)
        if reading is None:
            self.card.hide()
            self.axes.show_line(None)
            return
        self.axes.show_line(float(reading.step))
        at = self.axes.pixel_of(QPointF(float(reading.step), 0.0))
        self.card.show_reading(reading, QPoint(at.x(), self.axes.top_px() + 8))

    def save(self, path: Path) -> None:
        """Writes the plot without its controls: .png, .svg, or .csv with every value.

        Raises:
            SaveError: another ending, or a file that cannot be written.
        """
        self.show_crosshair(None)
        self.header.show_controls(is_shown=False)
        try:
            save_plot(path, self, self.title, self.series)
        finally:
            self.header.show_controls(is_shown=True)

    def _shown(self) -> tuple[tuple[LiveCurve, bool], ...]:
        by_epoch = self.is_by_epoch
        return (
            (self.raw, not by_epoch),
            (self.smooth, not by_epoch and self._is_smooth),
            (self.epoch_train, by_epoch),
            (self.epoch_validation, True),
        )

    def _mark(self) -> None:
        """Dots on the epochs while they are few, and a ring around the best."""
        series = self.series
        dots: list[tuple[Any, Any, str]] = [
            (series.epoch_steps, series.epoch_validation, self._theme.colors.validation)
        ]
        if self.is_by_epoch:
            dots.append((series.epoch_steps, series.epoch_train, self._theme.colors.train))
        self.axes.set_dots(dots, is_log=self.is_log)
        at = np.flatnonzero(series.epochs == series.best_epoch)
        if series.best_epoch == 0 or len(at) == 0:
            self.axes.show_best(None, "")
            return
        index = int(at[0])
        y = float(series.epoch_validation[index])
        y = y if np.isfinite(y) else float(series.epoch_train[index])
        point = QPointF(float(series.epoch_steps[index]), y)
        self.axes.show_best(point, f"best: epoch {series.best_epoch}", is_log=self.is_log)

    def _append_smooth(self, values: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        end = self._averaged + len(values)
        if end > len(self._smooth_y):
            grown = np.empty(max(end, 2 * len(self._smooth_y), 1024))
            grown[: self._averaged] = self._smooth_y[: self._averaged]
            self._smooth_y = grown
        self._smooth_y[self._averaged : end] = values
        self._averaged = end

    def _forget(self) -> None:
        self._averaged = 0
        self._average = BiasCorrectedAverage(weight_of(self.header.smoothing_span))
        self.smooth.clear()

    def _on_smoothing_changed(self, _span: float) -> None:
        self._forget()
        self.set_series(self.series)
        self.changed.emit()

    def _on_mode_changed(self, _is_checked: object) -> None:
        self.axes.set_log(is_log=self.is_log)
        self.header.smoothing.setEnabled(not self.is_by_epoch)
        self.all_wanted.emit()
        self.changed.emit()

    def _color(self, token: str, alpha: int = 255) -> QColor:
        color = QColor(getattr(self._theme.colors, token))
        color.setAlpha(alpha)
        return color

    def _on_theme_changed(self) -> None:
        colors = self._theme.colors
        self.header.set_colors(colors.train, colors.validation)
        self.card.set_colors(colors.train, colors.validation)
        for curve in (self.smooth, self.epoch_train):
            curve.set_color(self._color("train"))
        self.epoch_validation.set_color(self._color("validation"))
        self.changed.emit()
