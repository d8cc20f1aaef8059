"""Precision, recall, F1 and count of each class, sortable by any of them."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFrame, QHeaderView, QTableView

from workbench.core.format import count, share
from workbench.gui.kit.theme import Theme
from workbench.protocol.messages import ClassScore

COLUMNS = ("Class", "Precision", "Recall", "F1", "Support")
TIPS = (
    "",
    "Of the images predicted as this class, the share that belongs to it",
    "Of the images of this class, the share predicted as it",
    "Harmonic mean of precision and recall",
    "Test images of this class",
)
NUMBER_WIDTHS_PX = (86, 74, 70, 80)
SORT_ROLE = int(Qt.ItemDataRole.UserRole)


def _cell(text: str, value: object, *, is_number: bool = True) -> QStandardItem:
    item = QStandardItem(text)
    item.setData(value, SORT_ROLE)
    side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
    item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
    return item


class ClassTable(QTableView):
    """One row a class."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._model = QStandardItemModel(0, len(COLUMNS), self)
        self._model.setHorizontalHeaderLabels(list(COLUMNS))
        self._model.setSortRole(SORT_ROLE)
        for column, tip in enumerate(TIPS):
            self._model.setHeaderData(
                column, Qt.Orientation.Horizontal, tip, Qt.ItemDataRole.ToolTipRole
            )
        self.setModel(self._model)
        self.setFont(theme.font(13, tabular=True))
        self.setAccessibleName("Scores per class")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(28)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column, width_px in enumerate(NUMBER_WIDTHS_PX, start=1):
            header.resizeSection(column, width_px)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._model.horizontalHeaderItem(0).setTextAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        self.setSortingEnabled(True)
        # No column yet: the classes stay in their own order until one is clicked.
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)

    def set_scores(self, scores: Iterable[ClassScore]) -> None:
        """Shows these classes, in the order the user has chosen."""
        self.setSortingEnabled(False)
        self._model.setRowCount(0)
        for score in scores:
            figures = (score.precision, score.recall, score.f1)
            cells = [_cell(score.name, score.name.casefold(), is_number=False)]
            cells += [_cell(share(value), value) for value in figures]
            self._model.appendRow([*cells, _cell(count(score.count), score.count)])
        self.setSortingEnabled(True)

    def texts(self) -> list[list[str]]:
        """What is shown, row by row."""
        return [
            [self._model.item(row, column).text() for column in range(len(COLUMNS))]
            for row in range(self._model.rowCount())
        ]
