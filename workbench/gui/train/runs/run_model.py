"""The runs of a library as Qt models: the list, and what a filter leaves of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QAbstractListModel, QModelIndex, QSortFilterProxyModel, Qt
from PySide6.QtWidgets import QWidget

from workbench.gui.common.run_text import state_words
from workbench.gui.kit.labels import plain_tip
from workbench.gui.train.runs.run_delegate import EYE_COLOR_ROLE, SUMMARY_ROLE, Index
from workbench.runs.library.filter import matches
from workbench.runs.library.summary import RunSummary


class RunModel(QAbstractListModel):
    """The runs of a library as a Qt model."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
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
        """The same runs in the same rows: emits which of them have other figures."""
        pairs = zip(self.runs, runs, strict=True)
        changed = [row for row, (old, new) in enumerate(pairs) if old != new]
        self.runs = list(runs)
        for row in changed:
            self.dataChanged.emit(self.index(row), self.index(row))

    def set_eyes(self, colors: Mapping[Path, str]) -> None:
        """Colours of the runs that are drawn on the plots beside the selected one."""
        if self._eyes == colors:
            return
        self._eyes = dict(colors)
        if self.runs:
            self.dataChanged.emit(self.index(0), self.index(len(self.runs) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.runs)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        run = self.runs[index.row()]
        if role == SUMMARY_ROLE:
            return run
        if role == EYE_COLOR_ROLE:
            return self._eyes.get(run.path, "")
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(run)
        is_tip = role == Qt.ItemDataRole.ToolTipRole
        return plain_tip("\n".join(filter(None, tip_lines(run)))) if is_tip else None

    def _words(self, run: RunSummary) -> str:
        on_plot = "overlaid on plots" if run.path in self._eyes else ""
        return ", ".join(filter(None, (run.label, state_words(run), *run.tags, on_plot)))


def tip_lines(run: RunSummary) -> list[str]:
    """What a run's tooltip says."""
    tags = f"Tags: {', '.join(run.tags)}" if run.tags else ""
    return [run.label, run.words, run.note, tags, run.name]


class FilteredRuns(QSortFilterProxyModel):
    """The runs that match what was typed: words, tag:x, acc>0.8."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._words = ""

    def set_words(self, words: str) -> None:
        """Filters by other words; "" shows all."""
        self._words = words.strip()
        self.invalidate()

    def filterAcceptsRow(self, row: int, _parent: Index) -> bool:
        if not self._words:
            return True
        source = self.sourceModel()
        run = source.runs[row] if isinstance(source, RunModel) else None
        return run is not None and matches(run, self._words)
