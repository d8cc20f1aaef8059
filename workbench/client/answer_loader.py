"""A request whose answer names files: they are read in a thread. QtCore only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.client.background import Background
from workbench.client.question import Handlers, Question
from workbench.client.service_process import ServiceProcess
from workbench.errors import WorkbenchError
from workbench.protocol.bases import Request


class AnswerLoader(QObject):
    """At most one request is open, until its answer is loaded; a new one replaces it.

    Args:
        service: Answers.
        background: Where answers are loaded.
        load: Makes of an answer what is shown, in a thread; it may raise a WorkbenchError.
        parent: Who shows it.

    Signals:
        waiting(str): What is being done.
        loaded(object): What `load` has made of the answer to the latest request.
        failed(WorkbenchError): There is no answer, or it cannot be loaded.

    Attributes:
        is_open: Whether `loaded` or `failed` is still to come.
    """

    waiting = Signal(str)
    loaded = Signal(object)
    failed = Signal(object)

    def __init__(
        self,
        service: ServiceProcess,
        background: Background,
        load: Callable[[Any], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._question = Question(service)
        self._background = background
        self._load = load
        self._number = 0
        self.is_open = False

    def ask(self, request: Request) -> None:
        """Sends a request in place of the one before."""
        self.drop()
        self.is_open = True
        number = self._number

        def take(answer: Any) -> None:
            self._background.run(lambda: self._load(answer), done, fail)

        def done(loaded: object) -> None:
            if number == self._number:
                self.is_open = False
                self.loaded.emit(loaded)

        def fail(error: WorkbenchError) -> None:
            if number == self._number:
                self.is_open = False
                self.failed.emit(error)

        handlers = Handlers(
            on_done=take,
            on_failed=fail,
            on_progress=lambda progress: self.waiting.emit(progress.text),
        )
        self._question.ask(request, handlers)

    def drop(self) -> None:
        """Cancels what is under way: it is not wanted any more."""
        self._number += 1
        self.is_open = False
        self._question.drop()
