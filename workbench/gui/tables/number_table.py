"""A table of figures: names stretch, numbers are aligned and sorted as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFrame, QHeaderView, QTableView

from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.painted import SortHeader
from workbench.gui.kit.theme import Theme

SORT_ROLE = int(Qt.ItemDataRole.UserRole)
_NUMBER_ROLE = SORT_ROLE + 1
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
    """What is shown, and the number it is sorted by; None: by the text."""

    text: str
    value: float | None = None


class NumberTable(QTableView):
    """Rows that are sorted by a click on a heading, in their own order before.

    Signals:
        chosen(int): The row, as it was given, that was clicked or entered.
    """

    chosen = Signal(int)

    def __init__(self, theme: Theme, name: str, columns: Sequence[Column]) -> None:
        super().__init__()
        self._columns = tuple(columns)
        self._model = QStandardItemModel(0, len(columns), self)
        self._model.setHorizontalHeaderLabels([column.title for column in columns])
        self._model.setSortRole(SORT_ROLE)
        self.setModel(self._model)
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

    def _set_header(self, theme: Theme) -> None:
        header = SortHeader(theme)
        self.setHorizontalHeader(header)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setDefaultAlignment(_RIGHT)
        for place, column in enumerate(self._columns):
            item = self._model.horizontalHeaderItem(place)
            item.setToolTip(column.tip)
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
        self._model.setRowCount(0)
        for number, row in enumerate(rows):
            items = list(map(self._item, row, self._columns))
            items[0].setData(number, _NUMBER_ROLE)
            self._model.appendRow(items)
        self.setSortingEnabled(True)

    def _item(self, cell: Cell, column: Column) -> QStandardItem:
        item = QStandardItem(cell.text)
        item.setData(cell.text.casefold() if cell.value is None else cell.value, SORT_ROLE)
        item.setTextAlignment(_RIGHT if column.width_px else _LEFT)
        if not column.width_px:
            item.setToolTip(plain_tip(cell.text))
        return item

    def _on_chosen(self, index: QModelIndex | QPersistentModelIndex) -> None:
        self.chosen.emit(index.sibling(index.row(), 0).data(_NUMBER_ROLE))
