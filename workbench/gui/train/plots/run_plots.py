"""The plots of all curves, side by side or below each other: drawn from the histories of runs
by one timer.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, thread_time

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QHideEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QSlider, QWidget

from workbench.client.background import Background
from workbench.core.format import share
from workbench.curves import CurveSpec, all_curves
from workbench.gui.common.figure_saver import FigureSaver
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import add_to, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.scaling import X_AXES, XScale, scale_of
from workbench.gui.train.plots.legend import Legend, LegendEntry, Overlay
from workbench.gui.train.plots.live_plot import LivePlot
from workbench.runs.log.history import MetricHistory

# choices -------------------------------------------------------------------------------------
# What the user chooses for all plots at once, as actions of their menus.


class PlotChoices(QObject):
    """The x axis, whether it is logarithmic, and which plots are shown below the others.

    The same actions are in the menu of each plot. `changed` when one of them changes.
    """

    changed = Signal()

    def __init__(self, below: Iterable[CurveSpec], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._group = QActionGroup(self)
        self.axes = {key: self._group.addAction(title) for key, title in X_AXES.items()}
        for key, action in self.axes.items():
            action.setCheckable(True)
            action.setData(key)
        self.axes["epoch"].setChecked(True)
        self.log_x = QAction("Logarithmic x axis", self)
        self.log_x.setCheckable(True)
        self.below = {curve.key: QAction(f"Show {curve.title.lower()}", self) for curve in below}
        for action in self.below.values():
            action.setCheckable(True)
            action.toggled.connect(self.changed)
        self._group.triggered.connect(self.changed)
        self.log_x.toggled.connect(self.changed)

    @property
    def x_axis(self) -> str:
        """A key of X_AXES."""
        return str(self._group.checkedAction().data())

    @property
    def is_x_log(self) -> bool:
        """Whether the x axis is logarithmic."""
        return self.log_x.isChecked()

    def add_to(self, menu: QMenu) -> None:
        """Adds the actions to a plot's menu."""
        axes = menu.addMenu("X axis")
        axes.addActions(self._group.actions())
        axes.addSeparator()
        axes.addAction(self.log_x)
        menu.addActions(list(self.below.values()))


# redraw throttle -----------------------------------------------------------------------------
# Throttle that decides when a live plot is drawn again: as often as the eye gains something, and
# no more.
#
# Drawing takes time from the training it shows.

LIVE_SHARE = 0.006
"""New values may take this share of one processor. What the user changes (zoom,
smoothing, another run) is drawn at once."""

MIN_INTERVAL_S = 0.4
MAX_INTERVAL_S = 5.0


class RedrawThrottle:
    """Decides when new values are worth a drawing. Times are in seconds of one clock."""

    def __init__(self) -> None:
        self._drawn_at = float("-inf")
        self._interval_s = MIN_INTERVAL_S
        self._drawn_size: tuple[int, ...] = ()

    def drew(self, now_s: float, cost_s: float, size: tuple[int, ...]) -> None:
        """A drawing of so many batches, epochs, ... is done, and took that processor time."""
        self._drawn_at = now_s
        self._drawn_size = size
        self._interval_s = min(MAX_INTERVAL_S, max(MIN_INTERVAL_S, cost_s / LIVE_SHARE))

    def wait_s(self, now_s: float, size: tuple[int, ...], steps_per_pixel: float) -> float:
        """Seconds until the next drawing is due; 0.0 when it is.

        Batches that do not fill a pixel column may wait for the longest interval; an epoch
        may not.
        """
        interval_s = self._interval_s
        if len(size) == len(self._drawn_size):
            is_small = size[0] - self._drawn_size[0] < steps_per_pixel
            if size[1:] == self._drawn_size[1:] and is_small:
                interval_s = MAX_INTERVAL_S
        return max(0.0, self._drawn_at + interval_s - now_s)


# smoothing control ---------------------------------------------------------------------------
# Chooses how much of an epoch the smooth curves of all plots average over.

SLIDER_STEPS = 60
_LEAST, _DECADES = 0.01, 3.0
_SLIDER_PX, _GAP_PX = 56, 6
DEFAULT_EPOCHS = 0.05
"""Short enough that the first epoch is followed, whatever a loss falls from."""


def position_of(epochs: float) -> int:
    """Part of an epoch, or a number of them -> nearest slider position; 0 for none."""
    if epochs <= 0.0:
        return 0
    return max(0, round(SLIDER_STEPS * math.log10(epochs / _LEAST) / _DECADES))


def epochs_of(position: int) -> float:
    """Slider position -> epochs averaged over: 0 (none), then 0.01 to 10, by ratio."""
    return float(_LEAST * 10.0 ** (_DECADES * position / SLIDER_STEPS)) if position > 0 else 0.0


def smoothing_words(epochs: float) -> str:
    """How much is averaged over: "off", "5% of an epoch", "2.5 epochs"."""
    if epochs <= 0.0:
        return "off"
    if epochs < 0.995:
        return f"{share(epochs, 0)} of an epoch"
    rounded = float(f"{epochs:.2g}")
    return "1 epoch" if rounded == 1.0 else f"{rounded:g} epochs"


class _Slider(QSlider):
    """A double click resets it."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.setValue(position_of(DEFAULT_EPOCHS))
        event.accept()


class SmoothingControl(QWidget):
    """One slider for all plots, with its name and unit. `changed` when it was moved.

    Epochs as the unit: each run is averaged by its own length of an epoch, so that its curve is
    the same alone and beside others.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.slider = _Slider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, SLIDER_STEPS)
        self.slider.setValue(position_of(DEFAULT_EPOCHS))
        self.slider.setFixedWidth(_SLIDER_PX)
        self.slider.setAccessibleName("Smoothing")
        self.words = ElidedLabel(mode=Qt.TextElideMode.ElideRight)
        self.words.setProperty("role", "dim")
        self._name = plain_label("Smoothing", role="dim")
        row(self._name, self.slider, (self.words, 1), parent=self, spacing=_GAP_PX)
        self.slider.valueChanged.connect(self._on_moved)
        self._show_words()

    @property
    def epochs(self) -> float:
        """How many epochs are averaged over; 0.0 for none."""
        return epochs_of(self.slider.value())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_words()

    def _on_moved(self) -> None:
        self._show_words()
        self.changed.emit()

    def _show_words(self) -> None:
        words = smoothing_words(self.epochs)
        room = self.width() - self._name.sizeHint().width() - _SLIDER_PX - 2 * _GAP_PX
        is_short = self.words.fontMetrics().horizontalAdvance(words) > room
        self.words.set_full_text(words.partition(" of ")[0] if is_short else words)
        self.words.setToolTip(plain_tip(words))
        tip = f"Smoothing of the training curves: {words}.\nDouble-click to reset."
        self.slider.setToolTip(plain_tip(tip))


# run plots -----------------------------------------------------------------------------------

REDRAW_INTERVAL_MS = 40
END_MARGIN = 1.02
"""Room behind the last step, so that its dot and ring are seen whole."""

AHEAD = 16
"""While a run grows its x axis ends at a multiple of about a sixteenth of it: axes that
move with each batch cannot be read, and painting them costs more than the curves."""

WIDE_PX = 780
"""From this width on the plots are side by side, however high their place is."""

FLAT_PX = 240
"""A plot that is lower than this and as wide as all has little room for its curves. More than its
minimum height: plots that are stacked at that are higher than their place, and stay so.
"""

MAIN = "main"
"""Key of the current run in the legend."""


class RunPlots(QWidget):
    """The plots of one run, with others beside it.

    Call `grow` whenever a history has grown: it costs nothing until the timer draws, at
    most 2.5 times a second, less often where drawing is dear or would change nothing, and
    only while the plots can be seen; the first batches, and each time that they have doubled, are
    drawn at once. `said` when an export was written or failed.

    Attributes:
        by_key: The plot of each curve that has one, by the curve's key.
        smoothing: One for all plots; it is placed by who shows them.
    """

    said = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        # Narrower than both side by side: they are stacked then.
        self.setMinimumWidth(340)
        curves = all_curves().values()
        beside, below = ([c for c in curves if c.place == place] for place in ("row", "below"))
        self.by_key = {curve.key: LivePlot(theme, curve) for curve in (*beside, *below)}
        self._first = self.by_key[beside[0].key]
        self.legend = Legend(theme)
        self.choices = PlotChoices(below, self)
        self.smoothing = SmoothingControl()
        self._theme = theme
        self._title = ""
        self._main: MetricHistory | None = None
        self._overlays: dict[Hashable, Overlay] = {}
        self._hidden: set[Hashable] = set()
        self._is_following = True
        self._is_dirty = True
        self._is_urgent = True
        self._num_drawn = 0
        self._pace = RedrawThrottle()
        self._background = Background(self, max_threads=1)
        self._savers: dict[str, FigureSaver] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_timeout)
        self._build()

    def _build(self) -> None:
        self._row = row(spacing=12)
        whole = column(self.legend, (self._row, 3), parent=self, spacing=8)
        for key, plot in self.by_key.items():
            is_below = key in self.choices.below
            add_to(whole if is_below else self._row, (plot, 2 if is_below else 1))
            self._connect(plot)
        self.legend.hide()
        self.legend.hidden_changed.connect(self._on_hidden_changed)
        self.choices.changed.connect(self._on_choices_changed)
        self._theme.changed.connect(self._show_legend)
        self.smoothing.changed.connect(self._on_smoothing_changed)
        self._on_smoothing_changed()
        self._on_choices_changed()

    def _connect(self, plot: LivePlot) -> None:
        plot.axes.hovered.connect(self._on_hovered)
        plot.axes.box.zoomed.connect(partial(self._on_zoomed, plot))
        plot.changed.connect(self.refresh)
        plot.all_wanted.connect(self.show_all)
        menu = plot.header.menu
        self.choices.add_to(menu)
        menu.addSeparator()
        menu.addAction("Reset zoom", self.show_all)
        menu.addSeparator()
        key, title = plot.curve.key, f"{plot.curve.title.lower()} plot"
        saver = FigureSaver(self, self._background, key, title, plot.file_writer)
        saver.said.connect(self.said)
        saver.add_to(menu)
        self._savers[key] = saver

    # what is shown -----------------------------------------------------------------------

    def set_history(self, history: MetricHistory | None, title: str = "This run") -> None:
        """Shows another run; None shows empty axes. The runs beside it stay."""
        self._main = history
        self._is_following = True
        for plot in self.by_key.values():
            plot.clear()
        self.set_title(title)
        self.refresh()

    def set_title(self, title: str) -> None:
        """Sets the title of the current run."""
        self._title = title or "This run"
        for plot in self.by_key.values():
            plot.main.title = self._title
        self._show_legend()

    def set_overlays(self, overlays: Sequence[Overlay]) -> None:
        """Shows these runs beside the current one, and no others."""
        known: dict[Hashable, Overlay] = {id(each.history): each for each in overlays}
        self._overlays = known
        self._hidden &= {MAIN, *known} if known else set()
        for plot in self.by_key.values():
            plot.set_overlays({key: (each.title, each.color) for key, each in known.items()})
        self._apply_hidden()
        self._show_legend()
        self.refresh()

    def _show_legend(self) -> None:
        entries = [LegendEntry(MAIN, self._title, self._theme.colors.train, is_main=True)]
        entries += [LegendEntry(key, o.title, o.color) for key, o in self._overlays.items()]
        self.legend.set_entries(entries, self._hidden)
        self.legend.setVisible(bool(self._overlays))

    def _on_hidden_changed(self, hidden: set[Hashable]) -> None:
        self._hidden = hidden
        self._apply_hidden()
        self.refresh()

    def _apply_hidden(self) -> None:
        for plot in self.by_key.values():
            plot.main.is_shown = MAIN not in self._hidden
            for key, run in plot.overlays.items():
                run.is_shown = key not in self._hidden
            plot.fit()

    def _on_smoothing_changed(self) -> None:
        for plot in self.by_key.values():
            plot.set_smoothing(self.smoothing.epochs)

    def _on_choices_changed(self) -> None:
        for key, action in self.choices.below.items():
            self.by_key[key].setVisible(action.isChecked())
        self._arrange()
        self.show_all()

    # drawing -----------------------------------------------------------------------------

    def refresh(self) -> None:
        """Draws again at the next tick; many calls make one drawing."""
        self._is_urgent = True
        self._is_dirty = True
        if self.isVisible():
            self._timer.start(REDRAW_INTERVAL_MS)

    def grow(self) -> None:
        """Draws new values soon, within the share of time they may take."""
        self._is_dirty = True
        best = self._main.best if self._main is not None else None
        # The best epoch is that of the header at any moment.
        is_other = best is not None and best.epoch != self._first.series.best_epoch
        if is_other or self._has_doubled():
            self.refresh()
            return
        if not self.isVisible():
            return
        wait_ms = max(REDRAW_INTERVAL_MS, self._wait_ms())
        # An epoch must not wait for the time that its batches could have waited.
        if not self._timer.isActive() or wait_ms < self._timer.remainingTime():
            self._timer.start(wait_ms)

    def _has_doubled(self) -> bool:
        """The current run has its first batches, or twice as many as are drawn: one may have waited
        for them, and it happens a few times in a run.
        """
        num_steps = len(self._main.steps) if self._main is not None else 0
        return num_steps >= max(1, 2 * self._num_drawn)

    def _wait_ms(self) -> int:
        low, high = self._first.axes.x_range()
        scale = self._first.main.scale
        steps = scale.step_at(high) - scale.step_at(low)
        per_pixel = steps / self._first.axes.columns()
        return int(1000 * self._pace.wait_s(perf_counter(), self._size(), per_pixel))

    def _size(self) -> tuple[int, ...]:
        """Batches in all, then epochs and rewinds of each run: as before, nothing is new."""
        histories = [self._main] if self._main else []
        histories += [overlay.history for overlay in self._overlays.values()]
        others = (n for each in histories for n in (len(each.epochs), each.num_rewinds))
        return sum(len(each.steps) for each in histories), *others

    def mark_epochs(self, key: str, epochs: tuple[int, int] | None) -> None:
        """Marks epochs, from the first to the last, in the plot of a curve, and in no other."""
        for each, plot in self.by_key.items():
            plot.mark_epochs(epochs if each == key else None)

    def show_all(self) -> None:
        """Brings all values into sight and keeps them there."""
        self._is_following = True
        for plot in self.by_key.values():
            plot.fit()
        self.refresh()

    def redraw(self) -> None:
        """Takes in what is new and lets the plots paint it."""
        started = thread_time()
        size = self._size()
        self._is_dirty = self._is_urgent = False
        self._num_drawn = len(self._main.steps) if self._main is not None else 0
        self._timer.stop()
        self._feed()
        span = self._whole_span() if self._is_following else None
        words = self._empty_words()
        for plot in self._visible_plots():
            plot.redraw(span)
            plot.show_empty(words)
        # Painting follows by itself, once for all changes; that of the drawing before is known.
        painting_s = sum(plot.axes.take_painting_s() for plot in self.by_key.values())
        self._pace.drew(perf_counter(), thread_time() - started + painting_s, size)

    def _visible_plots(self) -> list[LivePlot]:
        """Plots of the row, and the chosen ones below it."""
        below = self.choices.below
        return [p for key, p in self.by_key.items() if key not in below or below[key].isChecked()]

    def _feed(self) -> None:
        kind, is_log = self.choices.x_axis, self.choices.is_x_log
        words = X_AXES[kind]
        main = self._main
        if main is not None and kind == "epoch" and not main.steps_per_epoch:
            words = X_AXES["step"]
        for plot in self.by_key.values():
            plot.axes.set_x_kind(kind, words, is_log=is_log)
        histories = {key: overlay.history for key, overlay in self._overlays.items()}
        for run, history in {MAIN: main, **histories}.items():
            if history is None:
                continue
            scale = scale_of(history, kind, is_log=is_log)
            for plot in self._visible_plots():
                curves = plot.main if run == MAIN else plot.overlays[run]
                curves.set_series(history.series(plot.curve), scale)

    def _empty_words(self) -> str:
        """What a plot without values says."""
        if self._hidden and MAIN in self._hidden:
            return "All runs are hidden. Click a name above to show one."
        if self._main is None:
            return "The curves of a run appear here."
        if self._main.finished is not None:
            return "This run has no values: it ended before its first step."
        return "First values after the first step"

    def _whole_span(self) -> tuple[float, float]:
        """The places of the x axis that hold everything shown."""
        runs, main = self._first.runs, self._first.main
        first_epoch = main.series.steps_per_epoch if self._main else 0
        ends = [run.last_place() for run in runs] + [main.scale.place(float(first_epoch))]
        end = max((end for end in ends if np.isfinite(end)), default=0.0)
        if self.choices.is_x_log:
            starts = [run.first_place() for run in runs]
            start = min((start for start in starts if np.isfinite(start)), default=0.0)
            return start, max(end, start + 0.1) + 0.02
        is_growing = self._main is not None and self._main.finished is None
        end = self._room_to_grow(end, main.scale) if is_growing else END_MARGIN * end
        return 0.0, end if end > 0.0 else 1.0

    def _room_to_grow(self, end: float, scale: XScale) -> float:
        """An end of the axis that holds for a while, but not behind the planned last step."""
        if end <= 0.0:
            return end
        grid = 2.0 ** np.floor(np.log2(end)) * 2 / AHEAD
        rounded = float(np.ceil(END_MARGIN * end / grid) * grid)
        total = self._main.progress.total_steps if self._main else 0
        if not total or scale.kind == "time":
            return rounded
        return max(END_MARGIN * end, min(rounded, END_MARGIN * scale.place(float(total))))

    def _on_timeout(self) -> None:
        if not self._is_dirty or not self.isVisible():
            return
        wait_ms = 0 if self._is_urgent else self._wait_ms()
        if wait_ms > 0:
            self._timer.start(wait_ms)
        else:
            self.redraw()

    def _on_zoomed(self, zoomed: LivePlot) -> None:
        """All plots show the same part of the x axis.

        pyqtgraph's own links would align pixels instead where one plot is wider.
        """
        first, last = zoomed.axes.x_range()
        start, end = self._whole_span()
        self._is_following = first <= start and end <= last
        length = min(last - first, end - start)  # beyond the values there is nothing to see
        first = min(max(first, start), end - length)
        for plot in self.by_key.values():
            plot.axes.set_x_range((first, first + length))
            plot.follow_zoom()
        self.refresh()

    def _on_hovered(self, x: object) -> None:
        for plot in self._visible_plots():
            plot.show_crosshair(x if isinstance(x, float) else None)

    # files -------------------------------------------------------------------------------

    def export(self, plot: LivePlot, path: Path) -> None:
        """Writes one plot as the file's ending says; `said` follows."""
        self._savers[plot.curve.key].save(path)

    def close_background(self) -> None:
        """Waits for what is still written; called before the application ends."""
        self._background.close()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
        self.refresh()

    def _arrange(self) -> None:
        """Places the plots below each other in a narrow place, unless they would be flat there and
        have just the width to be side by side.
        """
        plots = self._visible_plots()
        num_beside = len(self.by_key) - len(self.choices.below)
        least_px = sum(plot.minimumWidth() for plot in plots[:num_beside])
        least_px += (num_beside - 1) * self._row.spacing()
        is_flat = self.height() < FLAT_PX * len(plots)
        is_narrow = self.width() < (least_px if is_flat else WIDE_PX)
        sides = QBoxLayout.Direction
        self._row.setDirection(sides.TopToBottom if is_narrow else sides.LeftToRight)
