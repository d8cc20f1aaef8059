"""The names of the runs in the plots; a click hides one or shows it again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from workbench.core.format import number_text, share
from workbench.curves import CurveSpec
from workbench.gui.common.run_text import elide_mode
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import FlowLayout
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.header import HOW, CurveButton, Swatch, only
from workbench.runs.log.curve_columns import Reading
from workbench.runs.log.history import MetricHistory

# overlay -------------------------------------------------------------------------------------
# Other runs in the same plots, each in a distinguishable color.

OVERLAY_COLORS = (
    "#e0479e",
    "#9b5de5",
    "#0d9aa8",
    "#e5533d",
    "#8a7a12",
    "#64748b",
    "#b0652a",
    "#c026d3",
    "#16a34a",
    "#4d9422",
)
"""Each stands out from the panel of both themes (contrast 3:1 at least), and none is the
blue and amber of the current run. Greens are last: the dot of a completed run is green."""


def overlay_color(index: int) -> str:
    """The color "#rrggbb" of the overlay with this number, from 0; again after the last."""
    return OVERLAY_COLORS[index % len(OVERLAY_COLORS)]


@dataclass(frozen=True, eq=False)
class Overlay:
    """A run to be drawn beside the current one.

    Attributes:
        title: The run's name.
        color: As "#rrggbb", see `overlay_color`.
        history: Its events; it may still grow.
    """

    title: str
    color: str
    history: MetricHistory


# legend --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LegendEntry:
    """A run of the legend; `key` comes back when it is clicked."""

    key: Hashable
    title: str
    color: str
    is_main: bool = False


class Legend(QWidget):
    """One button a run; `hidden_changed` with the keys of the runs that are hidden now."""

    hidden_changed = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._hidden: set[Hashable] = set()
        self.buttons: dict[Hashable, CurveButton] = {}
        self._flow = FlowLayout(self, spacing=4)
        self._hint = plain_label("dashed: validation of overlaid runs", role="dim")
        self.setAccessibleName("Runs in the plots")

    def set_entries(self, entries: Sequence[LegendEntry], hidden: set[Hashable]) -> None:
        """Shows these runs; those in `hidden` are switched off."""
        while (item := self._flow.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None and widget is not self._hint:
                widget.hide()  # it is deleted later, and has no place until then
                widget.deleteLater()
        self.buttons = {}
        self._hidden = set(hidden)
        for entry in entries:
            button = self._make_button(entry)
            button.setChecked(entry.key not in hidden)
            button.shown.connect(partial(self._on_shown, entry.key))
            button.only_asked.connect(partial(self._on_only, entry.key))
            self.buttons[entry.key] = button
            self._flow.addWidget(button)
        self._hint.setMinimumHeight(max(b.sizeHint().height() for b in self.buttons.values()))
        self._flow.addWidget(self._hint)
        self._hint.show()

    def _hide(self, hidden: set[Hashable]) -> None:
        self._hidden = hidden
        for key, button in self.buttons.items():
            button.setChecked(key not in hidden)
        self.hidden_changed.emit(set(hidden))

    def _on_shown(self, key: Hashable, is_shown: bool) -> None:  # noqa: FBT001 - Qt's signal
        self._hide(self._hidden - {key} if is_shown else self._hidden | {key})

    def _on_only(self, key: Hashable) -> None:
        self._hide(only(key, self.buttons, self._hidden))

    def _make_button(self, entry: LegendEntry) -> CurveButton:
        title = " ".join(entry.title.split())
        button = CurveButton("")
        button.setParent(self)
        button.setProperty("role", "toggle")
        width = 3.0 if entry.is_main else 2.0
        button.set_line(entry.color, self._theme.colors.faint, width=width)
        button.setFont(self._theme.font(12, weight=600 if entry.is_main else 400))
        button.setText(" " + short_title(button, title, 180).replace("&", "&&"))
        button.setToolTip(plain_tip(f"{title}. {HOW}"))
        button.setAccessibleName(f"Curves of {title}")
        button.show()
        return button


def short_title(place: QWidget, title: str, room_px: int) -> str:
    """A run's name in one line, as far as it fits, in the font of the widget that shows it."""
    text = " ".join(title.split())
    return place.fontMetrics().elidedText(text, elide_mode(text), room_px)


# value card ----------------------------------------------------------------------------------
# The card beside the crosshair: epoch, step and the exact values of every run shown.

GAP_PX = 12
MAX_RUNS = 12


@dataclass(frozen=True)
class RunReading:
    """What a run says at the crosshair.

    Attributes:
        title, color: Title of the run, and the color of its curves.
        reading: Its values; None behind its last one.
        smoothed: The average that is drawn over the batches; None where there is none.
        last_epoch: The epoch of its last value, for one that has none here.
    """

    title: str
    color: str
    reading: Reading | None
    smoothed: float | None = None
    last_epoch: int = 0


Columns = tuple[bool, bool, bool]


class _Row:
    """Swatch, name and values of one run; or of one curve, then with one value alone."""

    def __init__(self, grid: QGridLayout, row: int, color: str, words: str) -> None:
        self.swatch = Swatch(color)
        self.name = plain_label(words, role="dim")
        self.train, self.smoothed, self.validation = (plain_label(role="value") for _ in range(3))
        grid.addWidget(self.swatch, row, 0)
        grid.addWidget(self.name, row, 1)
        for column, label in enumerate((self.train, self.smoothed, self.validation), start=2):
            label.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(label, row, column)

    def set_visible(self, *, is_visible: bool, columns: Columns = (True, False, False)) -> None:
        """Shows or hides all of it; `columns`: which of its three values it has."""
        for part in (self.swatch, self.name):
            part.setVisible(is_visible)
        values = (self.train, self.smoothed, self.validation)
        for value, is_shown in zip(values, columns, strict=True):
            value.setVisible(is_visible and is_shown)


class ValueCard(QFrame):
    """A small box over a plot, its parent; the mouse passes through it."""

    def __init__(self, theme: Theme, parent: QWidget, curve: CurveSpec) -> None:
        super().__init__(parent)
        self._plot = parent
        self._curve = curve
        self._has_train = True
        self._has_validation = curve.validation is not None
        words = curve.title.lower() if curve.is_plain else "train"
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.heading = plain_label(role="dim")
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(10, 8, 10, 8)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.addWidget(self.heading, 0, 0, 1, 5)
        colors = theme.colors
        self._train = _Row(grid, 1, colors.train, words)
        self._smoothed = _Row(grid, 2, colors.train, "train, smoothed")
        self._validation = _Row(grid, 3, colors.validation, "validation")
        self._captions = [plain_label(role="dim") for _ in range(3)]
        for column, label in enumerate(self._captions, start=2):
            label.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(label, 4, column)
        self.rows: list[_Row] = []
        self.more = plain_label(role="dim")
        grid.addWidget(self.more, 5 + MAX_RUNS, 0, 1, 5)
        self.hide()

    def set_lines(self, *, has_train: bool, has_validation: bool) -> None:
        """Chooses the lines whose values are shown: those that are drawn."""
        self._has_train = has_train
        self._has_validation = has_validation and self._curve.validation is not None

    def set_colors(self, train: str, validation: str) -> None:
        """Follows the theme."""
        colors = (train, train, validation)
        for row, color in zip((self._train, self._smoothed, self._validation), colors, strict=True):
            row.swatch.set_color(color)

    @property
    def train(self) -> QLabel:
        """The current run's training value."""
        return self._train.train

    @property
    def validation(self) -> QLabel:
        """The current run's validation value."""
        return self._validation.train

    @property
    def smoothed(self) -> QLabel:
        """The current run's average."""
        return self._smoothed.train

    def show_reading(
        self, heading: str, main: RunReading | None, others: Sequence[RunReading], at: QPoint
    ) -> None:
        """Shows values beside the crosshair, on the side with room.

        Args:
            heading: Where on the x axis this is.
            main: The current run's values; None while it is hidden or has none.
            others: The values of other runs.
            at: The crosshair, in the parent's pixels.
        """
        self.heading.setText(heading)
        self._show_alone(main if main is not None and not others else None)
        # With other runs the current one is first in their table.
        self._show_table([*([main] if main else []), *others] if others else [])
        self.adjustSize()
        room = self._plot.width()
        fits_right = at.x() + GAP_PX + self.width() <= room
        x = at.x() + GAP_PX if fits_right else at.x() - GAP_PX - self.width()
        if x < 0:  # neither side has room: the edge that is farther away
            x = max(0, room - self.width()) if at.x() < room / 2 else 0
        self.move(x, max(0, min(at.y(), self._plot.height() - self.height())))
        self.show()
        self.raise_()

    def _show_alone(self, main: RunReading | None) -> None:
        """Shows the values of one run below each other."""
        reading = main.reading if main else None
        smoothed = main.smoothed if main and self._has_train else None
        is_validated = reading is not None and self._has_validation
        self._train.set_visible(is_visible=reading is not None and self._has_train)
        self._smoothed.set_visible(is_visible=smoothed is not None)
        self._validation.set_visible(is_visible=is_validated)
        self.train.setText(self._text(reading.train if reading else None))
        self.smoothed.setText(self._text(smoothed))
        self.validation.setText(self._text(reading.validation if reading else None))
        if reading is not None:
            self._validation.name.setText(_validation_words([reading]))

    def _text(self, value: float | None) -> str:
        if self._curve.is_share or value is None:
            return share(value)
        words = self._curve.text(value) if self._curve.text else number_text(value)
        return f"{words} {self._curve.unit}".strip()

    def _room(self) -> int:
        """How many runs fit into the plot."""
        rows = self._plot.height() // (self.heading.sizeHint().height() + 2)
        return max(0, min(MAX_RUNS, rows - (4 if self._has_validation else 3)))

    def _show_table(self, runs: Sequence[RunReading]) -> None:
        runs, all_runs = runs[: self._room()], runs
        while len(self.rows) < len(runs):
            self.rows.append(_Row(self._grid, 5 + len(self.rows), "#000000", ""))
        has_average = self._has_train and any(run.smoothed is not None for run in runs)
        columns = (self._has_train, has_average, self._has_validation)
        self._show_captions(runs, columns)
        for row, run in zip_longest(self.rows, runs):
            row.set_visible(is_visible=run is not None, columns=columns)
            if run is not None:
                self._fill(row, run)
        left = len(all_runs) - len(runs)
        self.more.setVisible(left > 0)
        self.more.setText(f"and {left:,} more")

    def _show_captions(self, runs: Sequence[RunReading], columns: Columns) -> None:
        readings = [run.reading for run in runs if run.reading is not None]
        words = ("train", "smoothed", _validation_words(readings))
        for label, text, is_shown in zip(self._captions, words, columns, strict=True):
            label.setText(text)
            label.setVisible(bool(runs) and is_shown and not self._curve.is_plain)

    def _fill(self, row: _Row, run: RunReading) -> None:
        """Writes a run into its row."""
        reading = run.reading
        row.swatch.set_color(run.color)
        row.name.setText(short_title(row.name, run.title, 130))
        if reading is None:
            first = row.train if self._has_train else row.validation
            for value in (row.train, row.smoothed, row.validation):
                value.setText(f"last: epoch {run.last_epoch:,}" if value is first else "")
            return
        row.train.setText(self._text(reading.train))
        row.smoothed.setText(self._text(run.smoothed))
        row.validation.setText(self._text(reading.validation))


def _validation_words(readings: Sequence[Reading]) -> str:
    """The caption of validation values: the epoch after which they were measured, if one."""
    epochs = {reading.validation_epoch for reading in readings if reading.validation_epoch}
    return f"validation, epoch {epochs.pop():,}" if len(epochs) == 1 else "validation"
