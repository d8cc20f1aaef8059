"""The combinations of a sweep as a table: the best first, with the runs of their seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem

from workbench.core.format import share
from workbench.gui.kit.labels import plain_tip
from workbench.runs.library.series import Spread, spread_words
from workbench.runs.library.sweep_result import (
    CombinationResult,
    SweepResult,
    SweepRun,
    combination_words,
)
from workbench.runs.state.outcome import outcome_words

_NUMBER, _SORT, _RUN = (int(Qt.ItemDataRole.UserRole) + place for place in range(3))
_COLUMNS = ("Validation", "Test", "Remark")
_TIPS = ("Accuracy on the validation images", "Accuracy on the test images", "")
_FIGURES = 2
_WIDEST = "100.0% ± 10.0%"
_AROUND_PX = 26
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class _Line(QTreeWidgetItem):
    """A line that is sorted by numbers where it has them."""

    def __lt__(self, other: QTreeWidgetItem) -> bool:
        place = self.treeWidget().sortColumn()
        mine, theirs = self.data(place, _SORT), other.data(place, _SORT)
        if isinstance(mine, float) and isinstance(theirs, float):
            return mine < theirs
        return self.text(place) < other.text(place)


class SweepTable(QTreeWidget):
    """A line a combination; below it, where it is trained with several seeds, one a run.

    Signals:
        picked(int): A combination was selected, by its number.
    """

    picked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._lines: dict[int | None, _Line] = {}
        self._runs: dict[int, list[_Line]] = {}
        self._names: list[str] = []
        self._order: list[int] = []
        self.setAccessibleName("Combinations")
        self.setAllColumnsShowFocus(True)
        self.setUniformRowHeights(True)
        self.setSortingEnabled(True)
        self.header().setStretchLastSection(True)
        self.itemSelectionChanged.connect(self._on_selected)

    def set_result(self, result: SweepResult, names: Sequence[str]) -> None:
        """Shows what a sweep has given so far. Lines that are there are changed: to make all of
        them again takes time.

        Args:
            result: The sweep.
            names: The settings that differ, in words.
        """
        combinations, bar = result.combinations, self.verticalScrollBar()
        place, is_same = bar.value(), [*names] == self._names
        is_same = is_same and self._lines.keys() == {each.number for each in combinations}
        with QSignalBlocker(self):
            self.setSortingEnabled(False)
            if not is_same:
                self._make_lines(combinations, names)
            for each in combinations:
                self._show_line(result, each)
            self._put_best_first([each.number for each in combinations])
        if not is_same:
            self.header().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        bar.setValue(place)

    def select(self, number: int | None) -> None:
        """Selects the line of a combination, unless one of its lines is; no signal."""
        if number == self.number:
            return  # also where the line of one of its runs is selected
        with QSignalBlocker(self):
            if number in self._lines:
                self.setCurrentItem(self._lines[number])

    @property
    def number(self) -> int | None:
        """The selected combination."""
        items = self.selectedItems()
        found = items[0].data(0, _NUMBER) if items else None
        return found if isinstance(found, int) else None

    @property
    def run(self) -> Path | None:
        """The run of the selected line; None where that is a combination's."""
        items = self.selectedItems()
        found = items[0].data(0, _RUN) if items else None
        return found if isinstance(found, Path) else None

    def _on_selected(self) -> None:
        if self.number is not None:
            self.picked.emit(self.number)

    # the lines ---------------------------------------------------------------------------

    def _make_lines(self, combinations: Sequence[CombinationResult], names: Sequence[str]) -> None:
        self.clear()
        self._names, self._order = [*names], [each.number for each in combinations]
        self.setHeaderLabels([*names, *_COLUMNS])
        room = self.fontMetrics().horizontalAdvance
        for place, title in enumerate([*names, *_COLUMNS]):
            is_number = place < len(names) + _FIGURES
            self.headerItem().setTextAlignment(place, _RIGHT if is_number else _LEFT)
            self.headerItem().setToolTip(place, plain_tip((*([""] * len(names)), *_TIPS)[place]))
            wide = room(_WIDEST) if place >= len(names) else room("seed 12345")
            self.header().resizeSection(place, max(room(title), wide) + _AROUND_PX)
        self._runs.clear()
        self._lines = {each.number: self._line(each) for each in combinations}
        self.addTopLevelItems([*self._lines.values()])
        self.setRootIsDecorated(bool(self._runs))

    def _line(self, each: CombinationResult) -> _Line:
        line = _Line([*each.values.values()])
        for place, text in enumerate(each.values.values()):
            line.setData(place, _SORT, _number(text))
        _align(line, each.number, len(each.values))
        if len(each.runs) > 1:
            runs = self._runs[each.number] = [_Line() for _ in each.runs]
            for run in runs:
                _align(run, each.number, len(each.values))
            line.addChildren([*runs])
        return line

    def _show_line(self, result: SweepResult, each: CombinationResult) -> None:
        line, first = self._lines[each.number], len(each.values)
        for place, spread in enumerate((each.val_accuracy, each.test_accuracy), first):
            line.setText(place, spread_words(spread))
            line.setData(place, _SORT, _mean(spread))
        remark = combination_words(result, each)
        line.setText(first + _FIGURES, remark)
        line.setToolTip(first + _FIGURES, plain_tip(remark))
        for own, run in zip(self._runs.get(each.number, ()), each.runs, strict=False):
            _show_run(own, run, first)

    def _put_best_first(self, wanted: list[int]) -> None:
        """Restores the order of the result, unless a heading was clicked."""
        if self.header().sortIndicatorSection() >= 0 or self._order == wanted:
            return
        opened = [line for line in self._lines.values() if line.isExpanded()]
        top, self._order = self.invisibleRootItem(), wanted
        top.takeChildren()
        top.addChildren([self._lines[number] for number in wanted])
        for line in opened:
            line.setExpanded(True)


def _align(line: QTreeWidgetItem, number: int, num_values: int) -> None:
    line.setData(0, _NUMBER, number)
    for place in range(num_values + _FIGURES):
        line.setTextAlignment(place, _RIGHT)


def _show_run(line: QTreeWidgetItem, run: SweepRun, first: int) -> None:
    own = run.trained
    line.setText(0, f"seed {own.seed}")
    line.setData(0, _RUN, Path(own.run.path))
    for place, value in enumerate((own.val_accuracy, own.test_accuracy), first):
        line.setText(place, share(value) if value is not None else "")
    words = "stopped early" if run.is_hopeless else outcome_words(own.outcome)
    line.setText(first + _FIGURES, words)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _mean(spread: Spread | None) -> float:
    return spread.mean if spread is not None else -1.0
