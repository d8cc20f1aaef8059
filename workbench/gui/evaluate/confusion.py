"""The confusion matrix of an evaluation."""

from __future__ import annotations

from workbench.gui.common.confusion_matrix import POINT_AT, ConfusionMatrix
from workbench.gui.evaluate.state import EvaluateState
from workbench.gui.kit.cards import TitledBox
from workbench.gui.kit.labels import plain_label
from workbench.protocol.evaluate import Evaluation


class ConfusionPanel(TitledBox):
    """The matrix, and the square under the mouse in words."""

    def __init__(self, state: EvaluateState) -> None:
        super().__init__("Confusion matrix")
        self.map = ConfusionMatrix(state.context.theme)
        self.hover = plain_label(role="dim")
        self.column.addWidget(self.map, 1)
        self.column.addWidget(self.hover)
        self.map.hovered.connect(self._on_hovered)
        state.evaluated.connect(self._show)

    def _show(self, result: Evaluation) -> None:
        self.map.set_matrix(result.classes, result.confusion)

    def _on_hovered(self, words: str) -> None:
        self.hover.setText(words or POINT_AT)
