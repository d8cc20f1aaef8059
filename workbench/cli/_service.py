"""Requests to a service worker: progress is printed, errors are raised as exceptions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from workbench.cli._output import print_line
from workbench.protocol.bases import Answer, Request
from workbench.protocol.messages import Failed, Hello, Progress
from workbench.protocol.service_call import ServiceCall
from workbench.protocol.wire import error_from_parts

_COUNT_INTERVAL_S = 2.0


class _News:
    """Distinguishes a new step from one that only counts on ("Unpacking: 3 of 170 MB")."""

    def __init__(self) -> None:
        self._text = self._step = ""
        self._printed_at = 0.0

    def is_worth_printing(self, text: str) -> bool:
        """True for a new step at once, for a count every two seconds, for an echo never."""
        step, now = text.partition(":")[0], time.monotonic()
        is_due = step != self._step or now - self._printed_at >= _COUNT_INTERVAL_S
        if text == self._text or not is_due:
            return False
        self._text, self._step, self._printed_at = text, step, now
        return True


Kind = TypeVar("Kind")
Q_contra = TypeVar("Q_contra", contravariant=True)


class Call(Protocol[Q_contra]):
    """What answers requests of some kinds."""

    def answers(self, request: Q_contra) -> Iterator[Answer]:
        """The answers as they come."""


def ask_one(request: Request, kind: type[Kind], *, is_quiet: bool = False) -> Kind:
    """The one answer of a kind that a request has; errors as of `ask`."""
    return only(ask(request, is_quiet=is_quiet), kind)


def only(answers: Iterable[Answer], kind: type[Kind]) -> Kind:
    """The one answer of a kind among all."""
    (found,) = (each for each in answers if isinstance(each, kind))
    return found


def ask(request: Request, *, is_quiet: bool = False) -> Iterator[Answer]:
    """Yields the answers to one request of a worker started for it; errors as of `answers_of`."""
    with open_service() as service:
        yield from answers_of(service, request, is_quiet=is_quiet)


def open_service() -> ServiceCall:
    """A worker for several requests; use as a context manager."""
    return ServiceCall()


def answers_of(
    service: Call[Q_contra], request: Q_contra, *, is_quiet: bool = False
) -> Iterator[Answer]:
    """Yields the answers to one of several requests.

    Raises:
        WorkbenchError: the request could not be done; of the worker's own class, so that
            the exit code distinguishes bad input from a worker that failed.
    """
    news = _News()
    for answer in service.answers(request):
        if isinstance(answer, Failed):
            raise error_from_parts(answer.error)
        if isinstance(answer, Progress):
            if not is_quiet and news.is_worth_printing(answer.text):
                print_line(answer.text)
        elif not isinstance(answer, Hello):
            yield answer
