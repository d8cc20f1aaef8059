"""The runs of a library as Qt models: the table, and what a filter leaves of it, in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtWidgets import QWidget

from workbench.gui.common.run_text import state_words
from workbench.gui.kit.labels import plain_tip
from workbench.gui.train.runs.run_columns import COLUMNS, NAME
from workbench.gui.train.runs.run_delegate import EYE_COLOR_ROLE, PROJECT_ROLE, SUMMARY_ROLE, Index
from workbench.runs.library.filter import matches
from workbench.runs.library.summary import RunSummary


class RunModel(QAbstractTableModel):
    """The runs of a library, a row each; the columns are those of `COLUMNS`."""

    def __init__(self, parent: QWidget, is_own: Callable[[RunSummary], bool]) -> None:
        super().__init__(parent)
        self._is_own = is_own
        self.runs: list[RunSummary] = []
        self._eyes: dict[Path, str] = {}

    def set_runs(self, runs: list[RunSummary]) -> None:
        """Shows another list; rows that stay keep their selection and their place.

        Runs are known by their folder's name: comparing a thousand paths takes far longer.
        """
        wanted = [run.name for run in runs]
        if self.runs and runs:
            self._remove_all_but(set(wanted))
        shown = {run.name for run in self.runs}
        is_same_order = [run.name for run in self.runs] == [n for n in wanted if n in shown]
        if not self.runs or not is_same_order:
            self.beginResetModel()
            self.runs = list(runs)
            self.endResetModel()
            return
        for row, run in enumerate(runs):
            if run.name not in shown:
                self.beginInsertRows(QModelIndex(), row, row)
                self.runs.insert(row, run)
                self.endInsertRows()
        self._update(runs)

    def _remove_all_but(self, wanted: set[str]) -> None:
        for row in reversed(range(len(self.runs))):
            if self.runs[row].name not in wanted:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self.runs[row]
                self.endRemoveRows()

    def _update(self, runs: list[RunSummary]) -> None:
        """Updates the same runs in the same rows: emits which of them have other figures."""
        pairs = zip(self.runs, runs, strict=True)
        changed = [row for row, (old, new) in enumerate(pairs) if old != new]
        self.runs = list(runs)
        for row in changed:
            self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))

    def set_eyes(self, colors: Mapping[Path, str]) -> None:
        """Colors of the runs that are drawn on the plots beside the selected one."""
        if self._eyes == colors:
            return
        self._eyes = dict(colors)
        if self.runs:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.runs) - 1, 0))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.runs)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return COLUMNS[section].tip
        return COLUMNS[section].title if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        get = self._ROLES.get(role) if index.isValid() else None
        return get(self, self.runs[index.row()], index.column()) if get is not None else None

    def _project(self, run: RunSummary, _column: int) -> str:
        return "" if self._is_own(run) else run.project

    def _text(self, run: RunSummary, column: int) -> str:
        shown = COLUMNS[column]
        return self._words(run) if shown.key == NAME else shown.words(run)

    _ROLES: ClassVar[dict[int, Callable[[RunModel, RunSummary, int], object]]] = {
        SUMMARY_ROLE: lambda _self, run, _column: run,
        PROJECT_ROLE: _project,
        EYE_COLOR_ROLE: lambda self, run, _column: self._eyes.get(run.path, ""),
        Qt.ItemDataRole.DisplayRole: _text,
        Qt.ItemDataRole.AccessibleTextRole: _text,
        Qt.ItemDataRole.ToolTipRole: lambda _self, run, _column: plain_tip(
            "\n".join(filter(None, tip_lines(run)))
        ),
        Qt.ItemDataRole.TextAlignmentRole: lambda _self, _run, column: _alignment(column),
    }

    def _words(self, run: RunSummary) -> str:
        on_plot = "overlaid on plots" if run.path in self._eyes else ""
        return ", ".join(filter(None, (run.label, state_words(run), *run.tags, on_plot)))


def _alignment(column: int) -> Qt.AlignmentFlag:
    """Figures and their heading end at the right."""
    is_number = COLUMNS[column].is_number
    side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def in_order(runs: list[RunSummary]) -> list[RunSummary]:
    """Runs as they are listed: those that wait, the next one first, then the newest."""
    waiting = sorted((run for run in runs if run.queue_place), key=lambda run: run.queue_place)
    return [*waiting, *(run for run in runs if not run.queue_place)]


def tip_lines(run: RunSummary) -> list[str]:
    """What a run's tooltip says."""
    tags = f"Tags: {', '.join(run.tags)}" if run.tags else ""
    return [run.label, run.words, run.note, tags, run.name]


class FilteredRuns(QSortFilterProxyModel):
    """The runs that match what was typed: words, tag:x, acc>0.8. Those of the open project come
    first, however they are sorted; those of others are left out while they are folded away.
    """

    def __init__(self, parent: QWidget, is_own: Callable[[RunSummary], bool]) -> None:
        super().__init__(parent)
        self._words = ""
        self._is_own = is_own
        self.is_folded = False

    def set_words(self, words: str) -> None:
        """Filters by other words; "" shows all."""
        self._words = words.strip()
        self.invalidate()

    def set_folded(self, *, is_folded: bool) -> None:
        """Leaves the runs of other projects out, but where words are looked for; or shows them."""
        if is_folded != self.is_folded:
            self.is_folded = is_folded
            self.invalidate()

    def lessThan(self, left: Index, right: Index) -> bool:
        """By the column's value; the open project's first and what has no value last, in both
        directions.
        """
        a, b = left.data(SUMMARY_ROLE), right.data(SUMMARY_ROLE)
        is_up = self.sortOrder() is Qt.SortOrder.AscendingOrder
        if self._is_own(a) != self._is_own(b):
            return self._is_own(a) == is_up
        x, y = (COLUMNS[left.column()].value(run) for run in (a, b))
        if x is None or y is None:
            return (y is None and x is not None) == is_up and x is not y
        return x < y if isinstance(x, str) == isinstance(y, str) else isinstance(y, str)  # type: ignore[operator]

    def filterAcceptsRow(self, row: int, _parent: Index) -> bool:
        source = self.sourceModel()
        run = source.runs[row] if isinstance(source, RunModel) else None
        if run is None or (self.is_folded and not self._words and not self._is_own(run)):
            return False
        return not self._words or matches(run, self._words)
