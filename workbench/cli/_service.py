"""Asks a service worker, telling its progress to people; errors come out as exceptions."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.cli._output import tell
from workbench.protocol.messages import AnyAnswer, AnyRequest, Failed, Hello, Progress
from workbench.protocol.service_call import ServiceCall
from workbench.protocol.wire import error_from_parts


def ask(request: AnyRequest, *, is_quiet: bool = False) -> Iterator[AnyAnswer]:
    """Yields the answers to one request of a worker started for it.

    Raises:
        WorkbenchError: the request could not be done; of the worker's own class, so that
            the exit code tells bad input from a worker that failed.
    """
    last_text = ""
    with ServiceCall() as service:
        for answer in service.ask(request):
            if isinstance(answer, Failed):
                raise error_from_parts(answer.error)
            if isinstance(answer, Progress):
                if not is_quiet and answer.text != last_text:
                    tell(answer.text)
                last_text = answer.text
            elif not isinstance(answer, Hello):
                yield answer
