"""Classifies all images of a folder, in the worker for long work."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import msgspec
from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from workbench.client.background import Background
from workbench.client.service_process import Handlers, Question, ServiceProcess
from workbench.core.format import count, plural
from workbench.errors import WorkbenchError
from workbench.pictures.watching import FolderWatch
from workbench.protocol.classify import (
    Agreement,
    ClassifiedRows,
    ClassifyMany,
    ImageSource,
    ManyClassified,
)

SCORES = 2
"""Classes with a probability in each row: the answer and the runner-up, for the margin."""


@dataclass(frozen=True)
class FolderTask:
    """What is to be done with a folder.

    Attributes:
        folder: Its images, and those of the folders inside, are classified.
        table: CSV or Parquet file that the rows are written to; None for none.
        rows: CSV file that the rows are written to where there is no such file, to be saved as one.
        starts_over: Replace that file.
        has_class_folders: The folders inside are named like the classes of their images.
        truth: CSV file with the true classes; None for none.
        files: Only these of its images are classified; () for all.
        is_watched: Its images are, or were, classified as they appear.
    """

    folder: Path
    table: Path | None = None
    rows: Path | None = None
    starts_over: bool = False
    has_class_folders: bool = False
    truth: Path | None = None
    files: tuple[str, ...] = ()
    is_watched: bool = False


class FolderJob(QObject):
    """One such task under way; starts with `start`, can be canceled.

    Args:
        service: Does it.
        model: The run whose network answers.
        task: What is to be done.
        parent: Who waits for it.

    Attributes:
        doing: A word for what is done with the folder.

    Signals:
        progressed(str): What is being done.
        rows_came(list[Classified]): The next images, in order.
        finished(ManyClassified): All images are done.
        failed(WorkbenchError): It ended early; what is in the table stays there.
    """

    doing = "classified"

    progressed = Signal(str)
    rows_came = Signal(object)
    finished = Signal(object)
    failed = Signal(object)

    def __init__(
        self, service: ServiceProcess, model: Path, task: FolderTask, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._question = Question(service)
        self._model = model
        self._task = task
        self._is_cancelled = False

    @property
    def folder(self) -> Path:
        """The folder that is classified."""
        return self._task.folder

    def start(self) -> None:
        """Begins."""
        task = self._task
        request = ClassifyMany(
            id=0,
            model=str(self._model),
            sources=[ImageSource(path=path) for path in task.files or (str(task.folder),)],
            table=str(task.table or task.rows or ""),
            starts_over=task.starts_over,
            top=SCORES,
            has_class_folders=task.has_class_folders,
            truth="" if task.truth is None else str(task.truth),
        )
        handlers = Handlers(
            on_done=self._on_done,
            on_failed=self._on_failed,
            on_progress=lambda progress: self.progressed.emit(progress.text),
            on_part=self._on_rows,
        )
        self.progressed.emit(f"Scanning {task.folder.name}")
        self._question.ask(request, handlers)

    def cancel(self) -> None:
        """Stops soon. A table stays unfinished: it can be continued."""
        self._is_cancelled = True
        self._question.cancel()

    def dispose(self) -> None:
        """Deletes it."""
        self.deleteLater()

    def _on_done(self, done: ManyClassified) -> None:
        # Only what the user has chosen is a table to them.
        self.finished.emit(done if self._task.table else msgspec.structs.replace(done, table=""))

    def _on_rows(self, answer: ClassifiedRows) -> None:
        self.rows_came.emit(answer.rows)

    def _on_failed(self, error: WorkbenchError) -> None:
        if self._is_cancelled:
            table = self._task.table
            kept = f" Classify the folder into {table.name} again to continue." if table else ""
            error = WorkbenchError(f"Canceled.{kept}")
        self.failed.emit(error)


def done_words(done: ManyClassified) -> str:
    """What came of it, and how the table of true classes was read, in sentences."""
    into = f" into {Path(done.table).name}" if done.table else ""
    words = f"{plural(done.num_images - done.num_bad, 'image')} classified{into}"
    if done.num_earlier:
        words += f", {count(done.num_earlier)} of them before"
    if done.num_bad:
        words += f"; {plural(done.num_bad, 'image')} could not be read"
    return " ".join(
        filter(None, (f"{words}.", agreement_words(done.agreement), *done.reading, done.blind))
    )


def agreement_words(agreement: Agreement | None) -> str:
    """How many answers are correct, as in: 43 of 60 correct (71.7%); "" where that is unknown."""
    if agreement is None:
        return ""
    parts = []
    if agreement.accuracy is not None:
        labeled = agreement.num_right + agreement.num_wrong
        right = f"{count(agreement.num_right)} of {count(labeled)} correct"
        parts.append(f"{right} ({agreement.accuracy:.1%})")
    if agreement.num_unknown:
        parts.append(f"{plural(agreement.num_unknown, 'labeled image')} unknown")
    if agreement.num_foreign:
        words = plural(agreement.num_foreign, "image")
        parts.append(f"{words} with a label that is no class of this model")
    if agreement.num_unlabeled:
        parts.append(f"{plural(agreement.num_unlabeled, 'image')} without a label")
    return f"{'; '.join(parts)}." if parts else ""


# watch ---------------------------------------------------------------------------------------
# Classifies the images that appear in a folder, in the worker for long work.

MOST_AT_ONCE = 500


class WatchJob(QObject):
    """A folder that is watched until `cancel`, or until it is gone.

    The file system announces changes of the folder itself; scans find those in folders inside and
    on disks of the network, and files that have become complete.

    Args:
        service: Classifies.
        model: The run whose network answers.
        folder: Is watched.
        parent: Who waits for it.

    Signals:
        progressed(str): What is being done.
        rows_came(list[Classified]): The next images, in order.
        finished(ManyClassified): It was canceled.
        failed(WorkbenchError): It ended otherwise; what has come stays.
    """

    doing = "watched"

    progressed = Signal(str)
    rows_came = Signal(object)
    finished = Signal(object)
    failed = Signal(object)

    def __init__(self, service: ServiceProcess, model: Path, folder: Path, parent: QObject) -> None:
        super().__init__(parent)
        self.folder = folder
        self._model = model
        self._question = Question(service)
        self._background = Background(self, max_threads=1)
        self._changes = QFileSystemWatcher(self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._look)
        self._changes.directoryChanged.connect(lambda _path: self._look())
        self._watch: FolderWatch | None = None
        self._is_looking = self._is_over = False
        self._waiting: deque[str] = deque()
        self._num_good = self._num_bad = 0

    def start(self) -> None:
        """Begins."""
        folder, since_ns = self.folder, time.time_ns()
        self.progressed.emit(f"Watching {folder.name}")
        self._background.run(
            lambda: FolderWatch(folder, since_ns=since_ns), self._on_ready, self._fail
        )

    def cancel(self) -> None:
        """Ends it."""
        if self._is_over:
            return
        self._end()
        total = self._num_good + self._num_bad
        self.finished.emit(ManyClassified(num_images=total, num_bad=self._num_bad))

    def dispose(self) -> None:
        """Deletes it, once a scan that is under way has ended."""
        self._end()
        self._background.close_soon(self.deleteLater)

    def close(self) -> None:
        """Ends it without a word: the window is about to close."""
        self._end()
        self._background.close()

    def _end(self) -> None:
        self._is_over = True
        self._timer.stop()
        self._question.drop()

    def _on_ready(self, watch: FolderWatch) -> None:
        self._watch = watch
        self._changes.addPath(str(self.folder))
        self._report()
        self._look()

    def _look(self) -> None:
        if self._is_looking or self._is_over or self._watch is None:
            return
        self._is_looking = True
        self._background.run(self._watch.scan, self._on_found, self._fail)

    def _on_found(self, files: list[str]) -> None:
        self._is_looking = False
        if self._watch is None or self._is_over:
            return
        self._waiting += files
        self._ask_next()
        self._timer.start(round(1000 * self._watch.pause_s))

    def _ask_next(self) -> None:
        if not self._waiting or self._question.is_open:
            return
        number = min(MOST_AT_ONCE, len(self._waiting))
        sources = [ImageSource(path=self._waiting.popleft()) for _ in range(number)]
        request = ClassifyMany(id=0, model=str(self._model), sources=sources, top=SCORES)
        handlers = Handlers(
            on_done=lambda _done: self._ask_next(), on_failed=self._fail, on_part=self._on_rows
        )
        self._question.ask(request, handlers)

    def _on_rows(self, answer: ClassifiedRows) -> None:
        watch = self._watch
        if watch is None:
            return
        rows = [
            row for row in answer.rows if watch.is_final(row.file, is_readable=row.error is None)
        ]
        bad = sum(row.error is not None for row in rows)
        self._num_bad += bad
        self._num_good += len(rows) - bad
        if rows:
            self.rows_came.emit(rows)
        self._report()

    def _report(self) -> None:
        words = f"Watching {self.folder.name}"
        total = self._num_good + self._num_bad
        if total:
            words = f"{words}: {plural(total, 'image')}"
        elif self._watch is not None and self._watch.num_before:
            before = plural(self._watch.num_before, "file")
            words = f"{words} for new images; {before} in it left out"
        self.progressed.emit(words)

    def _fail(self, error: WorkbenchError) -> None:
        if not self._is_over:
            self._end()
            self.failed.emit(error)
