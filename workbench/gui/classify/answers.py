"""The classified pictures and the run that has answered: those of another are requested again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage, QImageReader

from workbench.client.background import Background
from workbench.client.service_process import Handlers, ServiceProcess
from workbench.core.calibration import UNKNOWN, TrueClasses
from workbench.core.format import share
from workbench.core.storage.json_file import read_json, save_json
from workbench.errors import WorkbenchError
from workbench.gui.classify.picture_strip import MAX_TILES
from workbench.protocol.classify import Classified, Classify
from workbench.runs.home import data_home

# classified ----------------------------------------------------------------------------------
# One classified picture as the window keeps it, and loading its previews.

MAX_PREVIEW_PX = 640


@dataclass(frozen=True)
class ClassifiedPicture:
    """An answer, what is known of its picture, and its previews in memory.

    Attributes:
        answer: The worker's answer.
        name: Words for the picture: its file name, or where it came from.
        model: Words for the run that classified it.
        truth: The label of the picture, "" when it has none; it may be no class of the model.
        picture, seen: The picture, and as the model gets it; null where unreadable.
    """

    answer: Classified
    name: str
    model: str
    truth: str
    picture: QImage
    seen: QImage

    @property
    def probability(self) -> float:
        """How sure the network is of its answer, 0..1."""
        return self.answer.scores[0].probability if self.answer.scores else 0.0

    @property
    def true_class(self) -> str:
        """The class of the model that the label names, whatever its case; "" for none."""
        if not self.truth:
            return ""
        return self._classes().named(self.truth)

    @property
    def is_right(self) -> bool | None:
        """Whether the answer is the true class; None where it is neither right nor wrong."""
        answer = self.answer
        return self._classes().is_right(answer.label, self.truth, unknown=answer.unknown)

    def _classes(self) -> TrueClasses:
        return TrueClasses([score.name for score in self.answer.scores])

    def label_words(self) -> str:
        """What the label says of the answer; "" without one."""
        if not self.truth or self.answer.error is not None:
            return ""
        if self.answer.unknown and self.true_class:
            return f"label: {self.truth}"
        if self.is_right is None:
            return f"label: {self.truth}, not a class of this model"
        return f"{'Correct' if self.is_right else 'Wrong'} (label: {self.truth})"

    def words(self) -> str:
        """The answer in one line."""
        if self.answer.error is not None:
            return "cannot be read"
        if self.answer.unknown:
            return UNKNOWN
        return f"{self.answer.label} {share(self.probability)}"


def load_preview(path: str) -> QImage:
    """Reads a preview made by the worker, at most `MAX_PREVIEW_PX` large; null when empty."""
    if not path:
        return QImage()
    reader = QImageReader(path)
    size = reader.size()
    if max(size.width(), size.height()) > MAX_PREVIEW_PX:
        limit = QSize(MAX_PREVIEW_PX, MAX_PREVIEW_PX)
        reader.setScaledSize(size.scaled(limit, Qt.AspectRatioMode.KeepAspectRatio))
    return reader.read()


def picture_name(file: str) -> str:
    """The file's own name."""
    return Path(file).name or file


# queue ---------------------------------------------------------------------------------------
# Pictures on their way through the service worker, a few at a time, in order.

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


# recent --------------------------------------------------------------------------------------
# The pictures that were classified last, kept over restarts: their paths, in a short file of the
# user's data. The pictures stay where they are; one that is gone is shown as unreadable.

MOST_PICTURES = 12
"""Most pictures that are kept for a project: so many are classified again within half a second."""

_MOST_PROJECTS = 50
_NAME = "recent_predictions.json"


class _Kept(msgspec.Struct):
    """Project id -> its pictures with their labels, oldest first; the latest project last."""

    projects: dict[str, list[tuple[str, str]]] = {}


class RecentPictures:
    """Reads and writes them in another thread, one after the other.

    Args:
        background: That thread.
    """

    def __init__(self, background: Background) -> None:
        self._background = background
        self._path = data_home() / _NAME
        self._passing: set[str] = set()

    def leave_out(self, file: str) -> None:
        """A file that lasts no longer than the window is not kept."""
        self._passing.add(file)

    def add(self, project: str, file: str, truth: str) -> None:
        """Keeps an answered picture of a project; projects without an identity keep none."""
        if project and file not in self._passing:
            # Without them nothing is lost but convenience: a full disk is reported elsewhere.
            self._background.run(lambda: self._add(project, file, truth), lambda _done: None)

    def _add(self, project: str, file: str, truth: str) -> None:
        kept = read_json(self._path, _Kept) or _Kept()
        others = [each for each in kept.projects.pop(project, []) if each[0] != file]
        kept.projects[project] = [*others, (file, truth)][-MOST_PICTURES:]
        for old in list(kept.projects)[:-_MOST_PROJECTS]:
            del kept.projects[old]
        save_json(self._path, kept, is_private=True)

    def read(self, project: str, then: Callable[[list[tuple[str, str]]], None]) -> None:
        """Calls `then` with the pictures of a project and their labels, oldest first."""

        def work() -> list[tuple[str, str]]:
            kept = read_json(self._path, _Kept) or _Kept()
            return kept.projects.get(project, [])

        self._background.run(work, then)


# answers -------------------------------------------------------------------------------------


class Answers:
    """The files that were classified, the latest last."""

    def __init__(self) -> None:
        self._files: dict[str, None] = {}
        self._outdated: set[str] = set()
        self._asked_again: set[str] = set()
        self._put_away: list[str] = []
        self._shown = ""
        self._model: Path | None = None

    def add(self, file: str) -> bool:
        """A file has an answer of the present run; whether it replaces an earlier run's."""
        if file in self._asked_again:
            self._asked_again.discard(file)
            return True
        self._outdated.discard(file)
        self._files.pop(file, None)
        self._files[file] = None
        while len(self._files) > MAX_TILES:
            del self._files[next(iter(self._files))]
        return False

    def show(self, entry: ClassifiedPicture) -> None:
        """An answer is shown large."""
        self._shown = entry.answer.file

    def is_shown(self, file: str) -> bool:
        """Whether the answer to this file is shown large."""
        return file == self._shown

    def is_outdated(self, file: str) -> bool:
        """Whether the answer there is of an earlier run."""
        return file in self._outdated or file in self._asked_again

    def give_up(self) -> None:
        """What was requested again is not answered: it can be requested once more."""
        self._outdated |= self._asked_again
        self._asked_again = set()

    def put_away(self) -> None:
        """Shows nothing, as another project is opened, until this one is opened again, which
        classifies its pictures again.
        """
        self._put_away = [*self._put_away, *self._files][-MAX_TILES:]
        self._files, self._outdated, self._asked_again = {}, set(), set()

    def put_back(self, files: list[str]) -> None:
        """Files that were classified before the program was started: requested as those that were
        put away are.
        """
        new = [file for file in files if file not in self._files]
        self._put_away = [*new, *self._put_away]

    def take_model(self, model: Path | None) -> bool:
        """The run that answers from now on; whether earlier answers are of another."""
        before, self._model = self._model, model or self._model
        if model is None or before in (None, model):
            return False
        self._outdated, self._asked_again = set(self._files), set()
        return bool(self._files)

    def take_outdated(self) -> list[str]:
        """The files whose answers are of another run, to be classified again: first the one that
        is shown, then from the latest on; after those what was put away, the latest last.
        """
        files = [file for file in reversed(self._files) if file in self._outdated]
        files.sort(key=lambda file: file != self._shown)
        self._asked_again |= self._outdated
        self._outdated = set()
        again, self._put_away = [*files, *self._put_away], []
        return again
