"""A request to a worker: its progress, answer and failure in one place. QtCore only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.client.service_process import ServiceProcess
from workbench.errors import WorkbenchError
from workbench.protocol.bases import Answer, FinalAnswer, Request
from workbench.protocol.messages import Failed, Progress
from workbench.protocol.wire import error_from_parts


def _ignore(_answer: Any) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Handlers:
    """What is done with the answers to one request; called with each of them.

    Attributes:
        on_done: Called with the final answer.
        on_failed: Called with the error, where there is no final answer.
        on_progress: Called with each Progress.
        on_part: Called with every other answer that comes before the final one.
    """

    on_done: Callable[[Any], None]
    on_failed: Callable[[WorkbenchError], None]
    on_progress: Callable[[Progress], None] = _ignore
    on_part: Callable[[Any], None] = _ignore

    def __call__(self, answer: Answer) -> None:
        if isinstance(answer, Failed):
            self.on_failed(error_from_parts(answer.error))
        elif isinstance(answer, Progress):
            self.on_progress(answer)
        elif isinstance(answer, FinalAnswer):
            self.on_done(answer)
        else:
            self.on_part(answer)


class Question:
    """At most one open request of a place in the window to `service`; a new one replaces it."""

    def __init__(self, service: ServiceProcess) -> None:
        self._service = service
        self._number = 0
        self._request_id = 0

    @property
    def is_open(self) -> bool:
        """Whether the final answer is still to come."""
        return self._request_id != 0

    def ask(self, request: Request, handlers: Handlers) -> None:
        """Sends a request; answers to an earlier one are ignored from here on."""
        self.drop()
        number = self._number

        def take(answer: Answer) -> None:
            if number != self._number:
                return
            if isinstance(answer, FinalAnswer):
                self._request_id = 0
            handlers(answer)

        self._request_id = self._service.send(request, take)

    def cancel(self) -> None:
        """Cancels the request in the worker; it then ends in an error."""
        if self._request_id:
            self._service.cancel(self._request_id)

    def drop(self) -> None:
        """Cancels the request and ignores whatever is still answered."""
        self.cancel()
        self._number += 1
        self._request_id = 0
