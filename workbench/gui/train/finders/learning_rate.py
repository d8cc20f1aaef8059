"""Finds a learning rate: the loss while the rate rises, and where it falls steepest."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.gui.common.context import WindowContext
from workbench.gui.plots.sweep_plot import LearningRatePlot
from workbench.gui.train.finders.finder import FinderDialog
from workbench.protocol.messages import (
    AnyAnswer,
    AnyRequest,
    FindLearningRate,
    LearningRateFound,
    LearningRateTried,
)

EXPLANATION = (
    "Trains a copy of the model briefly while the learning rate rises with each step "
    "(learning rate range test). A good rate is where the loss falls fastest; where it "
    "rises, the rate is too high."
)


class FindLearningRateDialog(FinderDialog):
    """Shows loss by learning rate, live."""

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        self._rates: list[float] = []
        self._losses: list[float | None] = []
        self._plot = LearningRatePlot(context.theme)
        super().__init__(context, "Find learning rate", EXPLANATION, self._plot, parent)

    def make_request(self, project: str) -> AnyRequest:
        return FindLearningRate(id=0, project=project)

    def clear(self) -> None:
        self._rates, self._losses = [], []
        self._plot.set_result([], [], None)

    def take(self, answer: AnyAnswer) -> None:
        if isinstance(answer, LearningRateTried):
            self._rates += answer.rates
            self._losses += answer.losses
            self._plot.set_result(self._rates, self._losses, None)
        elif isinstance(answer, LearningRateFound):
            self._plot.set_result(self._rates, self._losses, answer.suggested)
            if answer.suggested is None:
                self.found({}, "", answer.words)
            else:
                rate = float(f"{answer.suggested:.2g}")
                self.found({"learning_rate": rate}, f"Use {rate:g}", answer.words)
