"""Finds a learning rate: the loss while the rate rises, and where it falls steepest; or a batch
size: pictures per second of each, and which still fit into memory.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.core.format import count
from workbench.gui.common.context import WindowContext
from workbench.gui.plots.sweep_plot import BatchSizePlot, BatchSizePoint, LearningRatePlot
from workbench.gui.train.finders.finder import FinderDialog
from workbench.protocol.messages import (
    AnyAnswer,
    BatchSizeFound,
    BatchSizeTried,
    FindBatchSize,
    FindLearningRate,
    LearningRateFound,
    LearningRateTried,
)

LEARNING_RATE = (
    "Trains a copy of the model briefly while the learning rate rises with each step "
    "(learning rate range test). A good rate is where the loss falls fastest; where it "
    "rises, the rate is too high."
)
BATCH_SIZE = (
    "Trains a copy of the model briefly with each batch size. Larger batches are often "
    "faster, up to a limit, and need more memory."
)


class FindLearningRateDialog(FinderDialog):
    """Shows loss by learning rate, live."""

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        self._rates: list[float] = []
        self._losses: list[float | None] = []
        self._plot = LearningRatePlot(context.theme)
        super().__init__(context, "Find learning rate", LEARNING_RATE, self._plot, parent)

    def make_request(self, project: str) -> FindLearningRate:
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


class FindBatchSizeDialog(FinderDialog):
    """Shows pictures per second by batch size, live."""

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        self._points: list[BatchSizePoint] = []
        self._plot = BatchSizePlot(context.theme)
        super().__init__(context, "Find batch size", BATCH_SIZE, self._plot, parent)

    def make_request(self, project: str) -> FindBatchSize:
        return FindBatchSize(id=0, project=project)

    def clear(self) -> None:
        self._points = []
        self._plot.set_result([], None)

    def take(self, answer: AnyAnswer) -> None:
        if isinstance(answer, BatchSizeTried):
            measured = (answer.images_per_second, answer.memory_bytes, answer.problem)
            self._points.append(BatchSizePoint(answer.size, *measured))
            self._plot.set_result(self._points, None)
        elif isinstance(answer, BatchSizeFound):
            self._plot.set_result(self._points, answer.suggested)
            words = f"Use batch {count(answer.suggested)}"
            self.found({"batch_size": answer.suggested}, words, answer.words)
