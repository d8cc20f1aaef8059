"""The rows of a classified folder for a table: it asks only for what can be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QIcon

from workbench.core.calibration import unknown_words
from workbench.core.format import share
from workbench.gui.classify.folder.rows import Filter, FolderRows, Numbers, SortKey
from workbench.gui.images.grid import ImageThumbnails
from workbench.gui.kit.labels import plain_tip
from workbench.gui.kit.theme import Theme
from workbench.protocol.classify import Classified
from workbench.protocol.describe_data import ImagePlace

Index = QModelIndex | QPersistentModelIndex
_Role = Qt.ItemDataRole


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        title: Its heading.
        key: What it is sorted by; no two have the same.
        width_px: 0 for what is left.
        tip: The heading's tooltip.
        is_number: Whether it holds figures, which end at the right as their heading does.
    """

    title: str
    key: SortKey
    width_px: int = 0
    tip: str = ""
    is_number: bool = False


COLUMNS = (
    Column("Image", "order"),
    Column(
        "Prediction", "label", 150, "In parentheses: the most probable class where it is unknown"
    ),
    Column(
        "Probability",
        "probability",
        104,
        "Of the predicted class, or of that in parentheses",
        is_number=True,
    ),
    Column(
        "Margin", "margin", 84, "Difference to the probability of the next class", is_number=True
    ),
    Column("Next class", "next", 124),
    Column("Label", "truth", 116, "The true class of the image"),
)
PLACES: Mapping[SortKey, int] = {each.key: place for place, each in enumerate(COLUMNS)}
"""Where each column is, by its key."""

TRUTH, NEXT = PLACES["truth"], PLACES["next"]


class FolderModel(QAbstractTableModel):
    """The rows that a filter lets through, sorted.

    Attributes:
        rows: All that there are.
        by: The filter.
    """

    def __init__(self, theme: Theme, thumbnails: ImageThumbnails, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._thumbnails = thumbnails
        self.rows = FolderRows()
        self.by = Filter()
        self._key: SortKey = "order"
        self._is_descending = False
        self._order: Numbers = np.zeros(0, np.int64)
        thumbnails.arrived.connect(self._on_thumbnails)

    # rows --------------------------------------------------------------------------------

    def clear(self) -> None:
        """Removes all rows, for another folder."""
        self.beginResetModel()
        self.rows = FolderRows()
        self._order = np.zeros(0, np.int64)
        self.endResetModel()

    def add(self, answers: Sequence[Classified]) -> None:
        """Puts rows at the end, whatever the order is; `sort_again` moves them to their places."""
        start = len(self.rows)
        self.rows.add(answers)
        new = self.rows.chosen(self.by, "order", is_descending=False, start=start)
        if len(new):
            shown = len(self._order)
            self.beginInsertRows(QModelIndex(), shown, shown + len(new) - 1)
            self._order = np.concatenate([self._order, new])
            self.endInsertRows()

    @property
    def is_in_order(self) -> bool:
        """Whether new rows belong at the end."""
        return self._key == "order" and not self._is_descending

    def set_filter(self, by: Filter) -> None:
        """Shows other rows."""
        self.by = by
        self.sort_again()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sorts by a column; by none (-1) as the images came."""
        self._key = COLUMNS[column].key if column >= 0 else "order"
        self._is_descending = column >= 0 and order == Qt.SortOrder.DescendingOrder
        self.sort_again()

    def sort_again(self) -> None:
        """Puts all rows where they belong."""
        self.beginResetModel()
        self._order = self.rows.chosen(self.by, self._key, is_descending=self._is_descending)
        self.endResetModel()

    def row_of(self, index: Index) -> int:
        """The row of `rows` that is shown there."""
        return int(self._order[index.row()])

    def shown(self) -> Numbers:
        """The rows of `rows` that are shown, in their order."""
        return self._order.copy()

    def relocate(self, moved: Mapping[str, str]) -> None:
        """Files are elsewhere from now on: the new path by the old one."""
        self.rows.relocate(moved)

    # for the table -----------------------------------------------------------------------

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._order)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole
    ) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == _Role.DisplayRole:
            return COLUMNS[section].title
        if role == _Role.ToolTipRole:
            return COLUMNS[section].tip or None
        return _alignment(section) if role == _Role.TextAlignmentRole else None

    def data(self, index: Index, role: int = _Role.DisplayRole) -> object:
        if not index.isValid():
            return None
        row, column = self.row_of(index), index.column()
        if role == _Role.DisplayRole:
            return self._text(row, column)
        if role == _Role.TextAlignmentRole:
            return _alignment(column)
        if role == _Role.ForegroundRole:
            return self._color(row, column)
        if role == _Role.ToolTipRole:
            return plain_tip("\n".join(filter(None, (self.rows.file(row), self.reason(row)))))
        has_icon = role == _Role.DecorationRole and COLUMNS[column].key == "order"
        return self._icon(row) if has_icon else None

    def reason(self, row: int) -> str:
        """Why the image could not be read, or why the answer is "unknown"; "" elsewhere."""
        unknown = self.rows.unknowns.get(row)
        if not unknown:
            return self.rows.errors.get(row, "")
        most = f"{self.rows.label(row)} {share(self.rows.probability(row))}"
        return f"{unknown_words(unknown)}\nMost probable class: {most}"

    def _text(self, row: int, column: int) -> str:
        rows, key = self.rows, COLUMNS[column].key
        if key == "order":
            return Path(rows.file(row)).name
        if key == "truth":
            return rows.truth(row)
        if row in rows.errors:
            return "cannot be read" if key == "label" else ""
        return _CELLS[key](rows, row)

    def _color(self, row: int, column: int) -> QColor | None:
        colors, key = self._theme.colors, COLUMNS[column].key
        if key == "label" and (row in self.rows.errors or self.rows.is_right(row) is False):
            return QColor(colors.bad)
        return QColor(colors.dim) if key == "next" else None

    def _icon(self, row: int) -> QIcon | None:
        if row in self.rows.errors:
            return self._theme.icon("warning")
        pixmap = self._thumbnails.pixmap(ImagePlace("", row), self.rows.file(row))
        if pixmap is None:
            return None
        icon = QIcon(pixmap)
        icon.addPixmap(pixmap, QIcon.Mode.Selected)  # Qt tints its own
        return icon

    def _on_thumbnails(self) -> None:
        if len(self._order):
            last = self.index(len(self._order) - 1, 0)
            self.dataChanged.emit(self.index(0, 0), last, [_Role.DecorationRole])


def _label(rows: FolderRows, row: int) -> str:
    return f"unknown ({rows.label(row)})" if row in rows.unknowns else rows.label(row)


_CELLS: Mapping[SortKey, Callable[[FolderRows, int], str]] = {
    "label": _label,
    "probability": lambda rows, row: share(rows.probability(row)),
    "margin": lambda rows, row: share(rows.margin(row)),
    "next": lambda rows, row: rows.next_label(row),
}
"""What the model answered, by the column's key."""


def _alignment(column: int) -> Qt.AlignmentFlag:
    is_number = COLUMNS[column].is_number
    side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
