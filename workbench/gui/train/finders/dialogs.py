"""Finds a learning rate by a rising one and short trainings; or a batch size: images/s of each,
and which still fit into memory.
"""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.core.format import count, rate_text
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.layout import STRETCH, column
from workbench.gui.plots.sweep_plot import BatchSizePlot, BatchSizePoint
from workbench.gui.train.finders.finder import FinderDialog
from workbench.gui.train.finders.rate_plots import RatePlots
from workbench.protocol.bases import Answer
from workbench.protocol.find import (
    BatchSizeFound,
    BatchSizeTried,
    FindBatchSize,
    FindLearningRate,
    LearningRateFound,
    LearningRateTrial,
    LearningRateTried,
)

LEARNING_RATE = (
    "Raises the learning rate until the loss rises (learning rate range test), then trains a copy "
    "of the model briefly with a few rates, your rate among them, and compares the accuracy."
)
BATCH_SIZE = (
    "Trains a copy of the model briefly with each batch size; speeds that contradict each other "
    "are measured again. Larger batches are often faster, up to a limit, and need more memory."
)


class FindLearningRateDialog(FinderDialog):
    """Shows loss and accuracy by learning rate, live."""

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        ends = FindLearningRate(id=0, project="")
        self.plots = RatePlots(context.theme, ends.lowest, ends.highest)
        super().__init__(context, "Find learning rate", LEARNING_RATE, self.plots, parent)

    def make_request(self, project: str) -> FindLearningRate:
        return FindLearningRate(id=0, project=project)

    def clear(self) -> None:
        self.plots.clear()

    def take(self, answer: Answer) -> None:
        if isinstance(answer, LearningRateTried):
            self.plots.take_tried(answer)
        elif isinstance(answer, LearningRateTrial):
            self.plots.take_trial(answer)
        elif isinstance(answer, LearningRateFound):
            self.plots.take_found(answer)
            rate = answer.suggested
            if rate is None or rate == answer.present:
                self.found({}, "", answer.words)
            else:
                self.found({"learning_rate": rate}, f"Use {rate_text(rate)}", answer.words)


class FindBatchSizeDialog(FinderDialog):
    """Shows images per second by batch size, live."""

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        self._points: list[BatchSizePoint] = []
        self.plot = BatchSizePlot(context.theme, FindBatchSize(id=0, project="").sizes)
        page = QWidget()
        column(self.plot, STRETCH, parent=page)
        super().__init__(context, "Find batch size", BATCH_SIZE, page, parent)

    def make_request(self, project: str) -> FindBatchSize:
        return FindBatchSize(id=0, project=project)

    def clear(self) -> None:
        self._points = []
        self.plot.set_result([], None)

    def take(self, answer: Answer) -> None:
        if isinstance(answer, BatchSizeTried):
            point = BatchSizePoint(
                answer.size,
                answer.images_per_second,
                answer.memory_bytes,
                answer.problem,
                answer.times,
                answer.spread,
            )
            self._points = sorted(
                [*(p for p in self._points if p.batch_size != answer.size), point],
                key=lambda each: each.batch_size,
            )
            self.plot.set_result(self._points, None)
        elif isinstance(answer, BatchSizeFound):
            self.plot.set_result(self._points, answer.suggested)
            words = " ".join((answer.words, *answer.changes))
            values: dict[str, object] = {"batch_size": answer.suggested} if answer.suggested else {}
            self.found(values, f"Use batch {count(answer.suggested)}", words)
