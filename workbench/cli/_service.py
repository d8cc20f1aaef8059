"""Asks a service worker, telling its progress to people; errors come out as exceptions."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.cli._output import tell
from workbench.errors import InputError
from workbench.protocol.messages import AnyAnswer, AnyRequest, Failed, Hello, Progress
from workbench.protocol.service_call import ServiceCall


def ask(request: AnyRequest, *, is_quiet: bool = False) -> Iterator[AnyAnswer]:
    """Yields the answers to one request of a worker started for it.

    Raises:
        InputError: the request could not be done; says why.
    """
    last_text = ""
    with ServiceCall() as service:
        for answer in service.ask(request):
            if isinstance(answer, Failed):
                error = answer.error
                raise InputError(
                    error.what,
                    where=error.where,
                    received=error.received,
                    expected=error.expected,
                    fix=error.fix,
                )
            if isinstance(answer, Progress):
                if not is_quiet and answer.text != last_text:
                    tell(answer.text)
                last_text = answer.text
            elif not isinstance(answer, Hello):
                yield answer
