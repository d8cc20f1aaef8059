"""The answers to a picture whose alterations keep changing: only the newest are computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from workbench.client.question import Handlers, Question
from workbench.errors import WorkbenchError
from workbench.gui.classify.classified import load_preview
from workbench.gui.classify.state import ClassifyState
from workbench.protocol.classify import AlteredScores, ClassifyAltered


@dataclass(frozen=True)
class Wanted:
    """A picture with its alterations, and the run that is to answer."""

    run: str
    picture: str
    strengths: Mapping[str, float] = field(default_factory=dict)


class LiveScores(QObject):
    """At most one request is under way; of those that come meanwhile the newest is sent next.

    Signals:
        scored(AlteredScores): The answer for the newest position that was sent.
        pictured(QImage): The altered picture of such an answer, a moment later.
        failed(WorkbenchError): There is no answer.
    """

    scored = Signal(object)
    pictured = Signal(QImage)
    failed = Signal(object)

    def __init__(self, state: ClassifyState, parent: QObject) -> None:
        super().__init__(parent)
        self._background = state.background
        self._question = Question(state.context.service)
        self._next: Wanted | None = None
        self._generation = 0

    def ask(self, wanted: Wanted) -> None:
        """Computes this as soon as what is under way is done, unless another one comes first."""
        self._next = wanted
        if not self._question.is_open:
            self._send()

    def forget(self) -> None:
        """Drops what was requested: its answer is not reported."""
        self._next = None
        self._generation += 1
        self._question.drop()

    def _send(self) -> None:
        wanted, self._next = self._next, None
        if wanted is None:
            return
        number = self._generation
        request = ClassifyAltered(
            id=0, model=wanted.run, picture=wanted.picture, strengths=dict(wanted.strengths)
        )
        handlers = Handlers(
            on_done=lambda answer: self._take(number, answer), on_failed=self._on_failed
        )
        self._question.ask(request, handlers)

    def _take(self, number: int, answer: AlteredScores) -> None:
        self.scored.emit(answer)
        self._send()
        self._background.run(
            lambda: load_preview(answer.input_bitmap), lambda image: self._show(number, image)
        )

    def _show(self, number: int, image: QImage) -> None:
        # A null one was removed in favor of newer ones before it was read: they follow.
        if number == self._generation and not image.isNull():
            self.pictured.emit(image)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.failed.emit(error)
        self._send()
