"""Classifies all images of a folder, in the worker for long work."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.client.question import Handlers, Question
from workbench.client.service_process import ServiceProcess
from workbench.core.format import count, plural
from workbench.errors import WorkbenchError
from workbench.protocol.classify_many import (
    Agreement,
    ClassifiedRows,
    ClassifyMany,
    ImageSource,
    ManyClassified,
)

SCORES = 2
"""Of each image: the answer, and the next class for the margin between them."""


class FolderJob(QObject):
    """One such job; starts with `start`, can be canceled.

    Signals:
        progressed(str): What is being done.
        rows_came(list[Classified]): The next images, in order.
        finished(str): How it ended, in words.
        failed(WorkbenchError): It ended early; what is in the table stays there.
    """

    progressed = Signal(str)
    rows_came = Signal(object)
    finished = Signal(str)
    failed = Signal(object)

    def __init__(self, service: ServiceProcess, parent: QObject) -> None:
        super().__init__(parent)
        self._question = Question(service)
        self._table = ""
        self._is_cancelled = False

    def start(
        self,
        model: Path,
        folder: Path,
        *,
        table: Path | None = None,
        starts_over: bool = False,
        has_class_folders: bool = False,
    ) -> None:
        """Classifies with the run `model`, into a CSV or Parquet file where one is named."""
        self._table = "" if table is None else str(table)
        request = ClassifyMany(
            id=0,
            model=str(model),
            sources=[ImageSource(path=str(folder))],
            table=self._table,
            starts_over=starts_over,
            top=SCORES,
            has_class_folders=has_class_folders,
        )
        handlers = Handlers(
            on_done=self._on_done,
            on_failed=self._on_failed,
            on_progress=lambda progress: self.progressed.emit(progress.text),
            on_part=self._on_rows,
        )
        self.progressed.emit(f"Scanning {folder.name}")
        self._question.ask(request, handlers)

    def cancel(self) -> None:
        """Stops soon. A table stays unfinished: it can be continued."""
        self._is_cancelled = True
        self._question.cancel()

    def _on_rows(self, answer: ClassifiedRows) -> None:
        self.rows_came.emit(answer.rows)

    def _on_failed(self, error: WorkbenchError) -> None:
        if self._is_cancelled:
            kept = f" Classify the folder into {Path(self._table).name} again to continue."
            error = WorkbenchError(f"Canceled.{kept if self._table else ''}")
        self.failed.emit(error)

    def _on_done(self, done: ManyClassified) -> None:
        self.finished.emit(done_words(done))


def done_words(done: ManyClassified) -> str:
    """What came of it, in a sentence or two."""
    into = f" into {Path(done.table).name}" if done.table else ""
    words = f"{plural(done.num_images - done.num_bad, 'image')} classified{into}"
    if done.num_earlier:
        words += f", {count(done.num_earlier)} of them before"
    if done.num_bad:
        words += f"; {plural(done.num_bad, 'image')} could not be read"
    return f"{words}. {agreement_words(done.agreement)}".strip()


def agreement_words(agreement: Agreement | None) -> str:
    """How many answers are correct, as in: 43 of 60 correct (71.7%); "" where that is unknown."""
    if agreement is None:
        return ""
    parts = []
    if agreement.accuracy is not None:
        labeled = agreement.num_right + agreement.num_wrong
        right = f"{count(agreement.num_right)} of {count(labeled)} correct"
        parts.append(f"{right} ({agreement.accuracy:.1%})")
    if agreement.num_foreign:
        words = plural(agreement.num_foreign, "image")
        parts.append(f"{words} in folders that are no class of this model")
    if agreement.num_unlabeled:
        parts.append(f"{plural(agreement.num_unlabeled, 'image')} in no class folder")
    return f"{'; '.join(parts)}." if parts else ""
