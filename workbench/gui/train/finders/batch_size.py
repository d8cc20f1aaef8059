"""Finds a batch size: pictures per second of each, and which still fit into memory."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.core.format import count
from workbench.gui.common.context import WindowContext
from workbench.gui.plots.sweep_plot import BatchSizePlot, BatchSizePoint
from workbench.gui.train.finders.finder import FinderDialog
from workbench.protocol.messages import (
    AnyAnswer,
    AnyRequest,
    BatchSizeFound,
    BatchSizeTried,
    FindBatchSize,
)

EXPLANATION = (
    "Trains a copy of the model briefly with each batch size. Larger batches are often "
    "faster, up to a limit, and need more memory."
)


class FindBatchSizeDialog(FinderDialog):
    """Shows pictures per second by batch size, live."""

    def __init__(self, context: WindowContext, parent: QWidget | None = None) -> None:
        self._points: list[BatchSizePoint] = []
        self._plot = BatchSizePlot(context.theme)
        super().__init__(context, "Find batch size", EXPLANATION, self._plot, parent)

    def make_request(self, project: str) -> AnyRequest:
        return FindBatchSize(id=0, project=project)

    def clear(self) -> None:
        self._points = []
        self._plot.set_result([], None)

    def take(self, answer: AnyAnswer) -> None:
        if isinstance(answer, BatchSizeTried):
            self._points.append(
                BatchSizePoint(
                    answer.size, answer.images_per_second, answer.memory_bytes, answer.problem
                )
            )
            self._plot.set_result(self._points, None)
        elif isinstance(answer, BatchSizeFound):
            self._plot.set_result(self._points, answer.suggested)
            words = f"Use batch {count(answer.suggested)}"
            self.found({"batch_size": answer.suggested}, words, answer.words)
