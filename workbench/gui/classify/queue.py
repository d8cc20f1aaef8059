"""Pictures on their way through the service worker, a few at a time, in order."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.client.background import Background
from workbench.client.question import Handlers
from workbench.client.service_process import ServiceProcess
from workbench.errors import WorkbenchError
from workbench.gui.classify.classified import ClassifiedPicture, load_preview, picture_name
from workbench.protocol.classify import Classified, Classify

PICTURES_PER_REQUEST = 32


class ClassifyQueue(QObject):
    """Sends pictures to be classified as soon as there is a network.

    Signals:
        progressed: What is being done, in words.
        classified: A ClassifiedPicture with its previews loaded.
        emptied: Every picture has its answer, and all of them were reported.
        failed: The WorkbenchError of a whole request; what still waited is dropped.
    """

    progressed = Signal(str)
    classified = Signal(object)
    emptied = Signal()
    failed = Signal(object)

    def __init__(self, service: ServiceProcess, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._service = service
        self._background = background
        self._model: Path | None = None
        self._title = ""
        self._waiting: list[str] = []
        self._under_way: list[str] = []
        self._number = self._cleared = 0
        self._known: dict[str, tuple[str, str]] = {}
        self.is_asking = False

    def set_model(self, model: Path | None, title: str) -> None:
        """The run that answers from now on, and its words; None lets pictures wait. What an
        earlier one has not answered yet is requested again: answers of two would be mixed up.
        """
        if model != self._model:
            self._number += 1
            self._waiting = [*self._under_way, *self._waiting]
            self._under_way = []
        self._model, self._title = model, title
        self._ask_next()

    def clear(self) -> None:
        """Gives up what waits and what is under way: its project is not open any more."""
        self._number += 1
        self._cleared = self._number
        self._waiting, self._under_way = [], []

    def know(self, file: str, name: str, truth: str) -> None:
        """Gives a file words to be shown by, and its true class."""
        self._known[file] = (name, truth)

    def add(self, files: list[str]) -> None:
        """Puts picture files at the end."""
        self._waiting += files
        self._ask_next()

    def _ask_next(self) -> None:
        if self.is_asking or not self._waiting or self._model is None:
            return
        rest = len(self._waiting)
        now = self._waiting[:PICTURES_PER_REQUEST]
        self._waiting = self._waiting[PICTURES_PER_REQUEST:]
        self.is_asking = True
        name, _ = self._known.get(now[0], (picture_name(now[0]), ""))
        self.progressed.emit(f"Classifying {name if rest == 1 else f'{rest:,} pictures'}")
        self._under_way = list(now)
        title, number = self._title, self._number
        request = Classify(id=0, model=str(self._model), pictures=now, previews=True)
        handlers = Handlers(
            on_done=lambda _answer: self._on_done(),
            on_failed=lambda error: self._on_failed(number, error),
            on_progress=lambda progress: self.progressed.emit(progress.text),
            on_part=lambda answer: self._load(number, title, answer),
        )
        self._service.send(request, handlers)

    def _on_done(self) -> None:
        self.is_asking = False
        self._under_way = []
        number = self._number
        # After the last preview, which may still be loading.
        self._background.run(lambda: None, lambda _: self._report_end(number))
        self._ask_next()

    def _report_end(self, number: int) -> None:
        if number == self._number and not self._waiting and not self.is_asking:
            self.emptied.emit()

    def _on_failed(self, number: int, error: WorkbenchError) -> None:
        self.is_asking = False
        if number != self._number:  # of a run that is not asked any more
            self._ask_next()
            return
        self._waiting, self._under_way = [], []
        self.failed.emit(error)

    def _load(self, number: int, title: str, answer: Classified) -> None:
        if number != self._number:
            return
        if answer.file in self._under_way:
            self._under_way.remove(answer.file)
        name, truth = self._known.get(answer.file, (picture_name(answer.file), ""))

        def work() -> ClassifiedPicture:
            picture, seen = load_preview(answer.picture_bitmap), load_preview(answer.input_bitmap)
            return ClassifiedPicture(answer, name, title, truth, picture, seen)

        def done(entry: ClassifiedPicture) -> None:
            if number == self._number:
                self.classified.emit(entry)
            elif number >= self._cleared:
                self.add([entry.answer.file])

        self._background.run(work, done)
