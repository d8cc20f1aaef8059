"""Tables of figures, for any view.

Numbers are aligned and sorted as numbers; text columns take the remaining width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QStandardItemModel
from PySide6.QtWidgets import (
    QFrame,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from workbench.core.format import count, share
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import SortHeader
from workbench.protocol.trained.evaluate import ClassScore

# number table --------------------------------------------------------------------------------
# A table of figures: names stretch, numbers are aligned and sorted as numbers.

SORT_ROLE = int(Qt.ItemDataRole.UserRole)
_NUMBER_ROLE, _BAD_ROLE = SORT_ROLE + 1, SORT_ROLE + 2
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ROW_PX = 28


@dataclass(frozen=True)
class Column:
    """A column: one of names where it has no width in pixels, else one of numbers."""

    title: str
    width_px: int = 0
    tip: str = ""


@dataclass(frozen=True)
class Cell:
    """What is shown, the number it is sorted by (None: by the text), whether it is red, and what a
    tooltip adds.
    """

    text: str
    value: float | None = None
    is_bad: bool = False
    tip: str = ""


class _RedStays(QStyledItemDelegate):
    """Draws a red cell of a selected row in red: the style sheet has one color for all of it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        if index.data(_BAD_ROLE) and option.state & QStyle.StateFlag.State_Selected:
            option.state &= ~QStyle.StateFlag.State_Selected
            option.backgroundBrush = QBrush(QColor(self._theme.colors.accent_soft))


class NumberTable(QTableView):
    """Rows that are sorted by a click on a heading, in their own order before.

    Signals:
        chosen(int): The row, as it was given, that was clicked or entered.
        picked(int): The row, as it was given, that was selected by mouse or keyboard.
    """

    chosen = Signal(int)
    picked = Signal(int)

    def __init__(self, theme: Theme, name: str, columns: Sequence[Column]) -> None:
        super().__init__()
        self._theme = theme
        self._columns = tuple(columns)
        self._model = QStandardItemModel(0, len(columns), self)
        self._model.setHorizontalHeaderLabels([column.title for column in columns])
        self._model.setSortRole(SORT_ROLE)
        self.setModel(self._model)
        self.setItemDelegate(_RedStays(theme, self))
        self.setFont(theme.font(13, tabular=True))
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_PX)
        self._set_header(theme)
        self.clicked.connect(self._on_chosen)
        self.activated.connect(self._on_chosen)
        self.selectionModel().currentRowChanged.connect(self._on_picked)
        theme.changed.connect(self._color)

    def _set_header(self, theme: Theme) -> None:
        header = SortHeader(theme)
        self.setHorizontalHeader(header)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setDefaultAlignment(_RIGHT)
        for place, column in enumerate(self._columns):
            item = self._model.horizontalHeaderItem(place)
            item.setToolTip(plain_tip(column.tip))
            if column.width_px:
                header.resizeSection(place, column.width_px)
            else:
                header.setSectionResizeMode(place, QHeaderView.ResizeMode.Stretch)
                item.setTextAlignment(_LEFT)
        self.setSortingEnabled(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)

    def set_rows(self, rows: Iterable[Sequence[Cell]]) -> None:
        """Shows these rows, in the order the user has chosen."""
        self.setSortingEnabled(False)
        rows = list(rows)
        self._model.setRowCount(0)
        # Items are made by the model: it crashed now and then when it removed those of Python.
        self._model.setRowCount(len(rows))
        with QSignalBlocker(self._model):
            for number, row in enumerate(rows):
                for place, (cell, column) in enumerate(zip(row, self._columns, strict=True)):
                    data = {**_data(cell, column), _NUMBER_ROLE: number}
                    self._model.setItemData(self._model.index(number, place), data)
            self._color()
        self._tell_changed()
        self.setSortingEnabled(True)

    @property
    def current(self) -> int | None:
        """The selected row, as it was given."""
        index = self.currentIndex()
        return index.sibling(index.row(), 0).data(_NUMBER_ROLE) if index.isValid() else None

    def select(self, number: int) -> None:
        """Selects a row, as it was given; no signal."""
        rows = range(self._model.rowCount())
        found = [row for row in rows if self._model.index(row, 0).data(_NUMBER_ROLE) == number]
        with QSignalBlocker(self):
            if found:
                self.selectRow(found[0])

    def _color(self) -> None:
        """Colors red cells, in the red of the theme."""
        red = QBrush(QColor(self._theme.colors.bad))
        for row in range(self._model.rowCount()):
            for place in range(len(self._columns)):
                index = self._model.index(row, place)
                if index.data(_BAD_ROLE):
                    self._model.setData(index, red, Qt.ItemDataRole.ForegroundRole)

    def _tell_changed(self) -> None:
        """Emits one change for all cells."""
        last = self._model.index(self._model.rowCount() - 1, len(self._columns) - 1)
        if last.isValid():
            self._model.dataChanged.emit(self._model.index(0, 0), last)

    def _on_picked(self, index: QModelIndex | QPersistentModelIndex) -> None:
        if index.isValid():
            self.picked.emit(index.sibling(index.row(), 0).data(_NUMBER_ROLE))

    def _on_chosen(self, index: QModelIndex | QPersistentModelIndex) -> None:
        self.chosen.emit(index.sibling(index.row(), 0).data(_NUMBER_ROLE))


def _data(cell: Cell, column: Column) -> dict[int, object]:
    """What the model keeps of a cell, by role."""
    role = Qt.ItemDataRole
    data: dict[int, object] = {
        role.DisplayRole: cell.text,
        role.TextAlignmentRole: (_RIGHT if column.width_px else _LEFT).value,
        SORT_ROLE: cell.text.casefold() if cell.value is None else cell.value,
        _BAD_ROLE: cell.is_bad,
    }
    if cell.tip or not column.width_px:
        data[role.ToolTipRole] = plain_tip(cell.tip or cell.text)
    return data


# class scores --------------------------------------------------------------------------------
# Precision, recall and F1 of each class.

CLASS_COLUMNS = (
    Column("Class"),
    Column("Precision", 86, "Of the images predicted as this class, the share that belongs to it"),
    Column("Recall", 74, "Of the images of this class, the share predicted as it"),
    Column("F1", 70, "Harmonic mean of precision and recall"),
    Column("Support", 80, "Images of this class"),
)


def class_table(theme: Theme) -> NumberTable:
    """An empty table of them."""
    return NumberTable(theme, "Scores per class", CLASS_COLUMNS)


def class_row(score: ClassScore) -> list[Cell]:
    """The row of a class."""
    figures = (score.precision, score.recall, score.f1)
    numbers = [Cell(share(value), value) for value in figures]
    return [Cell(score.name), *numbers, Cell(count(score.count), score.count)]
