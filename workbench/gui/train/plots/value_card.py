"""The card beside the crosshair: epoch, step and the exact values of every run shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from workbench.core.format import number_text, share
from workbench.curves import CurveSpec
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.header import Swatch
from workbench.gui.train.plots.legend import short_title
from workbench.runs.log.series import Reading

GAP_PX = 12
MAX_RUNS = 12


@dataclass(frozen=True)
class RunReading:
    """What a run says at the crosshair."""

    title: str
    color: str
    reading: Reading


class _Row:
    """Swatch, name and two values of one run; or of one curve, without the second."""

    def __init__(self, grid: QGridLayout, row: int, color: str, words: str) -> None:
        self.swatch = Swatch(color)
        self.name = plain_label(words, role="dim")
        self.train = plain_label(role="value")
        self.validation = plain_label(role="value")
        grid.addWidget(self.swatch, row, 0)
        grid.addWidget(self.name, row, 1)
        for column, label in ((2, self.train), (3, self.validation)):
            label.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(label, row, column)

    def set_visible(self, *, is_visible: bool, has_validation: bool = True) -> None:
        """Shows or hides all of it."""
        for part in (self.swatch, self.name, self.train):
            part.setVisible(is_visible)
        self.validation.setVisible(is_visible and has_validation)


class ValueCard(QFrame):
    """A small box over a plot, its parent; the mouse passes through it."""

    def __init__(self, theme: Theme, parent: QWidget, curve: CurveSpec) -> None:
        super().__init__(parent)
        self._plot = parent
        self._curve = curve
        self._has_validation = curve.validation is not None
        words = curve.title.lower() if curve.is_plain else "train"
        self.setProperty("role", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.heading = plain_label(role="dim")
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(10, 8, 10, 8)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.addWidget(self.heading, 0, 0, 1, 4)
        self._train = _Row(self._grid, 1, theme.colors.train, words)
        self._validation = _Row(self._grid, 2, theme.colors.validation, "validation")
        self.swatches = (self._train.swatch, self._validation.swatch)
        self._captions = [plain_label(each, role="dim") for each in ("train", "validation")]
        for column, label in enumerate(self._captions, start=2):
            label.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(label, 3, column)
        self.rows: list[_Row] = []
        self.more = plain_label(role="dim")
        self._grid.addWidget(self.more, 4 + MAX_RUNS, 0, 1, 4)
        self.hide()

    @property
    def train(self) -> QLabel:
        """The current run's training value."""
        return self._train.train

    @property
    def validation(self) -> QLabel:
        """The current run's validation value."""
        return self._validation.train

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
        is_alone = main is not None and not others
        self._train.set_visible(is_visible=is_alone)
        self._validation.set_visible(is_visible=is_alone and self._has_validation)
        reading = main.reading if main else None
        self.train.setText(self._text(reading.train if reading else None))
        self.validation.setText(self._text(reading.validation if reading else None))
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

    def _text(self, value: float | None) -> str:
        if self._curve.is_share or value is None:
            return share(value)
        words = self._curve.text(value) if self._curve.text else number_text(value)
        return f"{words} {self._curve.unit}".strip()

    def _room(self) -> int:
        """How many runs fit into the plot."""
        rows = self._plot.height() // (self.heading.sizeHint().height() + 2)
        return max(0, min(MAX_RUNS, rows - (4 if self._has_validation else 3)))

    def _show_table(self, others: Sequence[RunReading]) -> None:
        others, all_others = others[: self._room()], others
        while len(self.rows) < len(others):
            self.rows.append(_Row(self._grid, 4 + len(self.rows), "#000000", ""))
        for label in self._captions:
            label.setVisible(bool(others) and self._has_validation)
        for row, other in zip_longest(self.rows, others):
            row.set_visible(is_visible=other is not None, has_validation=self._has_validation)
            if other is not None:
                row.swatch.set_color(other.color)
                row.name.setText(short_title(row.name, other.title, 130))
                row.train.setText(self._text(other.reading.train))
                row.validation.setText(self._text(other.reading.validation))
        left = len(all_others) - len(others)
        self.more.setVisible(left > 0)
        self.more.setText(f"and {left:,} more")
