"""Classifies the images that appear in a folder, in the worker for long work."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.client.service_process import ServiceProcess
from workbench.core.format import plural
from workbench.errors import WorkbenchError
from workbench.gui.classify.folder.job import SCORES
from workbench.pictures.watching.folder_watch import FolderWatch
from workbench.protocol.classify_many import (
    ClassifiedRows,
    ClassifyMany,
    ImageSource,
    ManyClassified,
)

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
