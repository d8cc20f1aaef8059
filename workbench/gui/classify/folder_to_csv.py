"""Classifies all pictures of a folder into a CSV table, a few at a time."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.client.background import Background
from workbench.client.question import Handlers
from workbench.client.service_process import ServiceProcess
from workbench.core.format import count, plural
from workbench.core.storage.save import save_bytes
from workbench.errors import PictureError, WorkbenchError
from workbench.pictures.folders import list_pictures
from workbench.protocol.classify import Classified, Classify
from workbench.runs.export.image_tables import classified_csv

PICTURES_PER_REQUEST = 64


class FolderToCsv(QObject):
    """One such job; starts with `start`, can be canceled between requests.

    `progressed` and `finished` with words; `failed` with the WorkbenchError: there is no table.
    """

    progressed = Signal(str)
    finished = Signal(str)
    failed = Signal(object)

    def __init__(self, service: ServiceProcess, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._service = service
        self._background = background
        self._model = ""
        self._table = Path()
        self._waiting: list[str] = []
        self._total = 0
        self._answers: list[Classified] = []
        self._is_cancelled = False

    def start(self, model: Path, folder: Path, table: Path) -> None:
        """Lists the folder in another thread, then classifies with the run `model`."""
        self._model, self._table = str(model), table
        self.progressed.emit(f"Scanning {folder.name}")
        self._background.run(
            lambda: [str(path) for path in list_pictures(folder, is_deep=True)],
            lambda files: self._on_listed(folder, files),
            self.failed.emit,
        )

    def cancel(self) -> None:
        """Stops after the pictures under way; nothing is written."""
        self._is_cancelled = True

    def _on_listed(self, folder: Path, files: list[str]) -> None:
        if not files:
            error = PictureError(
                "This folder has no images.",
                where=str(folder),
                expected="PNG, JPEG, GIF, BMP, WebP or TIFF files",
                fix="Choose another folder.",
            )
            self.failed.emit(error)
            return
        self._waiting, self._total = files, len(files)
        self._next()

    def _next(self) -> None:
        if self._is_cancelled:
            self.failed.emit(WorkbenchError("Canceled. No table was written."))
            return
        if not self._waiting:
            self._save()
            return
        now = self._waiting[:PICTURES_PER_REQUEST]
        self._waiting = self._waiting[PICTURES_PER_REQUEST:]
        request = Classify(id=0, model=self._model, pictures=now)
        handlers = Handlers(
            on_done=lambda _answer: self._next(),
            on_failed=self.failed.emit,
            on_part=self._on_classified,
        )
        self._service.send(request, handlers)

    def _on_classified(self, answer: Classified) -> None:
        self._answers.append(answer)
        done, total = count(len(self._answers)), count(self._total)
        self.progressed.emit(f"Classified {done} of {total} images")

    def _save(self) -> None:
        table, answers = self._table, self._answers
        self._background.run(
            lambda: save_bytes(table, classified_csv(answers).encode()),
            lambda _none: self.finished.emit(self._words()),
            self.failed.emit,
        )

    def _words(self) -> str:
        bad = sum(answer.error is not None for answer in self._answers)
        rest = f"; {plural(bad, 'image')} could not be read (see the table)" if bad else ""
        return f"{plural(self._total - bad, 'image')} classified into {self._table.name}{rest}."
