"""Loss and accuracy side by side, fed from a run's history and redrawn by one timer."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from workbench.errors import WorkbenchError
from workbench.gui.dialogs.save_path import ask_save_path
from workbench.gui.plots.live_plot import LivePlot
from workbench.gui.plots.series import Series
from workbench.gui.theme import Theme
from workbench.protocol.events import EpochFinished
from workbench.runs.history import MetricHistory

REDRAW_INTERVAL_MS = 40
LIVE_SHARE = 0.05
"""New values may take this share of one processor: the trainer needs it more. What the
user asks for (zoom, smoothing, another run) is drawn at once."""

STACK_BELOW_PX = 780
MAX_SPAN = 30.0
SPANS_IN_RUN = 60
"""Proposed smoothing: a sixtieth of the run, at most 30 steps; a short run stays as it is."""

END_MARGIN = 1.02
"""Room behind the last step, so that its dot and ring are seen whole."""


class PlotPair(QWidget):
    """Both plots of one run.

    Call `grow` whenever the history has grown: it costs nothing until the timer draws, at
    most 25 times a second, less often where drawing is dear, and only while the plots can
    be seen.

    Signals:
        failed: An export failed, in words.
    """

    failed = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        # Narrower than both side by side: they are stacked then.
        self.setMinimumWidth(340)
        self.loss = LivePlot(theme, "Loss")
        self.accuracy = LivePlot(theme, "Accuracy")
        self.plots = (self.loss, self.accuracy)
        self._history: MetricHistory | None = None
        self._epochs = _EpochColumns()
        self._is_following = True
        self._is_dirty = True
        self._is_urgent = True
        self._next_live_s = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(REDRAW_INTERVAL_MS)
        self._timer.timeout.connect(self._on_timeout)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        for plot in self.plots:
            self._row.addWidget(plot, 1)
            self._connect(plot)
        self.accuracy.axes.box.setXLink(self.loss.axes.box)

    def _connect(self, plot: LivePlot) -> None:
        plot.hovered.connect(self._on_hovered)
        plot.changed.connect(self.refresh)
        plot.zoomed.connect(self._on_zoomed)
        plot.all_wanted.connect(self.show_all)
        menu = plot.header.menu
        menu.addSeparator()
        menu.addAction("Show all", self.show_all)
        menu.addSeparator()
        for words, suffix in (("PNG picture", "png"), ("SVG drawing", "svg"), ("CSV table", "csv")):
            action = menu.addAction(f"Save as {words}…")
            action.triggered.connect(
                lambda _checked=False, plot=plot, suffix=suffix: self._on_export(plot, suffix)
            )

    @property
    def is_following(self) -> bool:
        """Whether all values are kept in sight; False once the user has zoomed."""
        return self._is_following

    def set_history(self, history: MetricHistory | None) -> None:
        """Shows another run; None shows empty axes."""
        self._history = history
        self._epochs = _EpochColumns()
        self._is_following = True
        for plot in self.plots:
            plot.clear()
        self.refresh()

    def refresh(self) -> None:
        """Draws again at the next tick; many calls make one drawing."""
        self._is_urgent = True
        self.grow()

    def grow(self) -> None:
        """There are new values: draws them soon, within the share of time they may take."""
        self._is_dirty = True
        if self.isVisible() and not self._timer.isActive():
            self._timer.start()

    def show_all(self) -> None:
        """Brings all values into sight and keeps them there."""
        self._is_following = True
        self.refresh()

    def redraw(self) -> None:
        """Draws now."""
        started = perf_counter()
        self._is_dirty = self._is_urgent = False
        if self._history is not None:
            self._feed(self._history)
        span = self._whole_span() if self._is_following else None
        for plot in self.plots:
            plot.redraw(span)
            plot.axes.viewport().repaint()
        now = perf_counter()
        self._next_live_s = now + (now - started) / LIVE_SHARE

    def _feed(self, history: MetricHistory) -> None:
        self._epochs.extend(history.epochs)
        steps_per_epoch = history.data.steps_per_epoch if history.data else 0
        best = history.best
        total = history.progress.total_steps
        for plot, values, train, validation in (
            (self.loss, history.losses, 1, 2),
            (self.accuracy, history.accuracies, 3, 4),
        ):
            if total:
                plot.header.smoothing.propose(min(MAX_SPAN, total / SPANS_IN_RUN))
            plot.set_series(
                Series(
                    steps=history.steps,
                    values=values,
                    epochs=self._epochs.column(5),
                    epoch_steps=self._epochs.column(0),
                    epoch_train=self._epochs.column(train),
                    epoch_validation=self._epochs.column(validation),
                    best_epoch=best.epoch if best else 0,
                    steps_per_epoch=steps_per_epoch,
                )
            )

    def _whole_span(self) -> tuple[float, float]:
        series = self.loss.series
        last = float(series.steps[-1]) if len(series.steps) else 0.0
        if len(series.epoch_steps):
            last = max(last, float(series.epoch_steps[-1]))
        return 0.0, END_MARGIN * max(last, float(series.steps_per_epoch), 1.0)

    def _on_timeout(self) -> None:
        if not self._is_dirty or not self.isVisible():
            self._timer.stop()
        elif self._is_urgent or perf_counter() >= self._next_live_s:
            self.redraw()

    def _on_zoomed(self) -> None:
        self._is_following = False
        self.refresh()

    def _on_hovered(self, x: object) -> None:
        for plot in self.plots:
            plot.show_crosshair(x if isinstance(x, float) else None)

    def _on_export(self, plot: LivePlot, suffix: str) -> None:
        name = plot.title.lower()
        filters = f"{suffix.upper()} file (*.{suffix})"
        path, _ = ask_save_path(self, f"Save the {name} plot", f"{name}.{suffix}", filters)
        if path:
            self.export(plot, Path(path))

    def export(self, plot: LivePlot, path: Path) -> None:
        """Writes one plot as the file's ending says; tells by `failed` when it cannot."""
        try:
            plot.save(path)
        except WorkbenchError as error:
            self.failed.emit(str(error))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_narrow = event.size().width() < STACK_BELOW_PX
        direction = (
            QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        )
        if self._row.direction() != direction:
            self._row.setDirection(direction)
        self.refresh()


class _EpochColumns:
    """EpochFinished events as arrays: step, loss, val_loss, accuracy, val_accuracy, epoch."""

    def __init__(self) -> None:
        self._table: np.ndarray[Any, np.dtype[np.float64]] = np.empty((6, 64))
        self._count = 0

    def extend(self, epochs: list[EpochFinished]) -> None:
        """Takes in the epochs that came since the last call."""
        if len(epochs) > self._table.shape[1]:
            grown = np.empty((6, 2 * len(epochs)))
            grown[:, : self._count] = self._table[:, : self._count]
            self._table = grown
        for index in range(self._count, len(epochs)):
            event = epochs[index]
            row = (event.step, event.loss, event.val_loss, event.accuracy, event.val_accuracy)
            numbers = [np.nan if value is None else value for value in row]
            self._table[:, index] = [*numbers, event.epoch]
        self._count = len(epochs)

    def column(self, index: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The filled part of a column."""
        return self._table[index, : self._count]
