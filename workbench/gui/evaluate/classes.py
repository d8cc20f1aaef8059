"""The figures of an evaluation in all, and for each class."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout

from workbench.core.format import count, share
from workbench.gui.evaluate.class_table import ClassTable
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.kit.cards import Figure, TitledBox
from workbench.gui.kit.labels import plain_label
from workbench.protocol.messages import Evaluation

_FIGURE_PX = 110


class ClassesPanel(TitledBox):
    """Accuracy, loss and number of pictures above the table of classes."""

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("Classes")
        theme = state.context.theme
        self._state = state
        self.source = plain_label(role="dim")
        self.accuracy = Figure("Accuracy", _FIGURE_PX)
        self.loss = Figure("Loss", _FIGURE_PX)
        self.pictures = Figure("Support", _FIGURE_PX)
        self.pictures.setToolTip("Test images")
        self.table = ClassTable(theme)
        figures = QHBoxLayout()
        for figure in (self.accuracy, self.loss, self.pictures):
            figures.addWidget(figure)
        figures.addStretch(1)
        self.column.insertLayout(0, figures)
        self.column.insertWidget(1, self.source)
        self.column.insertSpacing(2, 6)
        self.column.addWidget(self.table, 1)
        self.setMinimumWidth(430)
        state.evaluated.connect(self._show)

    def _show(self, result: Evaluation) -> None:
        self.source.setText(self._state.subject)
        self.accuracy.value.setText(share(result.accuracy))
        self.loss.value.setText("NaN" if result.loss is None else f"{result.loss:.4f}")
        self.pictures.value.setText(count(sum(sum(row) for row in result.confusion)))
        self.table.set_scores(result.per_class)
