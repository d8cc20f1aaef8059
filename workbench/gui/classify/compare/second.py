"""The answers of the second network: of the picture that is shown large, one at a time."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.client.question import Handlers, Question
from workbench.errors import WorkbenchError
from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.compare.agreement import agree
from workbench.gui.classify.state import ClassifyState
from workbench.protocol.classify import Classified, Classify


class SecondAnswers(QObject):
    """Follows the picture that is shown, while there is a second network.

    Signals:
        changed(): Picture, answer or network have changed.
        progressed(str): What is being done.
        failed(WorkbenchError): There is no answer.

    Attributes:
        run: The second network; None for none.
        entry: The picture that is shown, with the first network's answer; None for none.
        answer: The second one's; None while it is still to come.
    """

    changed = Signal()
    progressed = Signal(str)
    failed = Signal(object)

    def __init__(self, state: ClassifyState, parent: QObject) -> None:
        super().__init__(parent)
        self._state = state
        self._question = Question(state.context.service)
        self.run: Path | None = None
        self.entry: ClassifiedPicture | None = None
        self.answer: Classified | None = None
        self._known: dict[str, Classified] = {}
        self._agreements: dict[str, bool] = {}
        state.shown.connect(self._on_shown)
        state.classified.connect(lambda entry: self._forget(entry.answer.file))
        state.reclassified.connect(lambda entry: self._agreements.pop(entry.answer.file, None))
        state.outdated.connect(self._agreements.clear)
        state.cleared.connect(self._on_cleared)

    @property
    def agreement(self) -> tuple[int, int]:
        """(images with the same answer, images compared)."""
        return sum(self._agreements.values()), len(self._agreements)

    def set_run(self, run: Path | None) -> None:
        """Chooses the second network; None ends the comparison."""
        if run == self.run:
            return
        self.run = run
        self._known.clear()
        self._agreements.clear()
        self._question.drop()
        self._follow()

    def _on_shown(self, entry: ClassifiedPicture) -> None:
        self.entry = entry
        self._follow()

    def _forget(self, file: str) -> None:
        """Drops what is known of a file that was classified again: it may have changed."""
        self._known.pop(file, None)
        self._agreements.pop(file, None)

    def _on_cleared(self) -> None:
        self.entry = None
        self._known.clear()
        self._agreements.clear()
        self._question.drop()
        self._follow()

    def _follow(self) -> None:
        file = self.entry.answer.file if self.entry is not None else ""
        self.answer = self._known.get(file)
        self._note()
        self.changed.emit()
        if self.run is None or self.entry is None or self.answer is not None:
            return
        if self.entry.answer.error is not None:  # no network can read it
            self._question.drop()
            return
        handlers = Handlers(
            on_done=lambda _done: None,
            on_failed=self._on_failed,
            on_progress=lambda progress: self.progressed.emit(progress.text),
            on_part=lambda answer: self._take(file, answer),
        )
        self.progressed.emit("Classifying")
        self._question.ask(Classify(id=0, model=str(self.run), pictures=[file]), handlers)

    def _take(self, file: str, answer: Classified) -> None:
        self._known[file] = answer
        if self.entry is not None and self.entry.answer.file == file:
            self.answer = answer
            self._note()
            self.changed.emit()

    def _note(self) -> None:
        entry, answer = self.entry, self.answer
        if entry is None or answer is None or self._state.is_outdated(entry):
            return
        is_same = agree(entry.answer, answer)
        if is_same is not None:
            self._agreements[entry.answer.file] = is_same

    def _on_failed(self, error: WorkbenchError) -> None:
        self.failed.emit(error)
