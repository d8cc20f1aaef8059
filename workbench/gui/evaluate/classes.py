"""The figures of an evaluation in all, and for each class."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFrame, QHeaderView, QTableView

from workbench.core.format import count, share
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.kit.cards import Figure, TitledBox
from workbench.gui.kit.labels import breakable, plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, row
from workbench.gui.kit.painted import SortHeader
from workbench.gui.kit.theme import Theme
from workbench.protocol.evaluate import ClassScore, Evaluation

NUMBERS = {
    "Precision": (86, "Of the images predicted as this class, the share that belongs to it"),
    "Recall": (74, "Of the images of this class, the share predicted as it"),
    "F1": (70, "Harmonic mean of precision and recall"),
    "Support": (80, "Test images of this class"),
}
"""Width in pixels and tooltip of each column of numbers."""

SORT_ROLE = int(Qt.ItemDataRole.UserRole)
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def _cell(text: str, value: object, *, is_number: bool = True) -> QStandardItem:
    item = QStandardItem(text)
    item.setData(value, SORT_ROLE)
    item.setTextAlignment(_RIGHT if is_number else _LEFT)
    return item


class ClassTable(QTableView):
    """One row a class."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._model = QStandardItemModel(0, 1 + len(NUMBERS), self)
        self._model.setHorizontalHeaderLabels(["Class", *NUMBERS])
        self._model.setSortRole(SORT_ROLE)
        self.setModel(self._model)
        self.setFont(theme.font(13, tabular=True))
        self.setAccessibleName("Scores per class")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(28)
        header = SortHeader(theme)
        self.setHorizontalHeader(header)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column, (width_px, tip) in enumerate(NUMBERS.values(), start=1):
            header.resizeSection(column, width_px)
            self._model.horizontalHeaderItem(column).setToolTip(tip)
        header.setDefaultAlignment(_RIGHT)
        self._model.horizontalHeaderItem(0).setTextAlignment(_LEFT)
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
            cells[0].setToolTip(plain_tip(score.name))
            cells += [_cell(share(value), value) for value in figures]
            self._model.appendRow([*cells, _cell(count(score.count), score.count)])
        self.setSortingEnabled(True)


class ClassesPanel(TitledBox):
    """Accuracy, loss and number of images above the table of classes."""

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("Classes")
        self._state = state
        self.source = plain_label(role="dim", wrap=True)
        figures = [Figure(heading, 110) for heading in ("Accuracy", "Loss", "Support")]
        self.accuracy, self.loss, self.pictures = figures
        self.pictures.setToolTip("Test images")
        self.table = ClassTable(state.context.theme)
        self.column.insertLayout(0, row(*figures, STRETCH))
        self.column.insertWidget(1, self.source)
        self.column.insertSpacing(2, 6)
        self.column.addWidget(self.table, 1)
        self.setMinimumWidth(430)
        state.evaluated.connect(self._show)

    def _show(self, result: Evaluation) -> None:
        self.source.setText(breakable(self._state.subject))
        self.accuracy.value.setText(share(result.accuracy))
        self.loss.value.setText("NaN" if result.loss is None else f"{result.loss:.4f}")
        self.pictures.value.setText(count(sum(sum(row) for row in result.confusion)))
        self.table.set_scores(result.per_class)
