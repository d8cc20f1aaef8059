"""A service worker for a program that may wait: the command line, scripts, tests. Qt-free.

with ServiceCall() as service:
    for answer in service.answers(Classify(id=1, model="runs/first", pictures=["a.jpg"])):
        ...
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from workbench.errors import RunError, WireError
from workbench.processes.child import Child, end_words
from workbench.protocol.bases import PROTOCOL_VERSION, Answer, FinalAnswer, Request
from workbench.protocol.messages import Failed, Hello
from workbench.protocol.wire import decode_answer, encode_request, error_parts

# worker command ------------------------------------------------------------------------------
# How a worker process is started: the same words for the window, the command line, tests.

_PACKAGE_HOME = Path(__file__).resolve().parents[2]


def worker_command(*words: str) -> list[str]:
    """Program and arguments of `python -m workbench.worker WORDS`.

    `-P` keeps the folder that the user happens to be in off Python's search path: a file
    `keras.py` beside the user's images must not become part of the program.
    """
    return [sys.executable, "-P", "-m", "workbench.worker", *words]


def worker_environment() -> dict[str, str]:
    """The environment of a worker: ours, and where this very copy of Workbench is found."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    if not {"site-packages", "dist-packages"} & set(_PACKAGE_HOME.parts):
        paths = [str(_PACKAGE_HOME), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment


# service call --------------------------------------------------------------------------------

STOP_SECONDS = 3.0
"""How long a worker may take at each rung of the stop ladder."""


def check_hello(hello: Hello) -> None:
    """Raises WireError when the worker has another version of the protocol."""
    if hello.protocol != PROTOCOL_VERSION:
        raise WireError(
            "The service worker has another version than Workbench.",
            received=f"protocol {hello.protocol}",
            expected=f"protocol {PROTOCOL_VERSION}",
            fix="Reinstall Workbench.",
        )


def death_error(exit_code: int, last_words: str) -> RunError:
    """The error that every unfinished request ends with when its worker has crashed."""
    return RunError(
        f"The service worker {end_words(exit_code)}.",
        where="service worker",
        received=last_words,
        fix="It restarts with the next request.",
    )


class ServiceCall:
    """A service worker process that runs as long as its `with` block; it imports TensorFlow
    only when a request needs it.
    """

    def __init__(self) -> None:
        self._child = Child(
            worker_command("serve"),
            name="the service worker",
            environment=worker_environment(),
        )
        self.hello: Hello | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        with self._child:
            self._child.finish(step_s=STOP_SECONDS)

    def answers(self, request: Request) -> Iterator[Answer]:
        """Yields the answers to one request; the last is a final one, Failed with the worker's last
        log lines where that crashes on the way. Raises WireError where one cannot be sent or read.
        """
        self.send(request)
        for answer in map(decode_answer, self._child.lines()):
            if isinstance(answer, Hello):
                check_hello(answer)
                self.hello = answer
            elif answer.id == request.id or (answer.id == 0 and isinstance(answer, Failed)):
                yield answer
                if isinstance(answer, FinalAnswer):
                    return
        death = death_error(self._child.exit_code(), self._child.last_words())
        yield Failed(id=request.id, error=error_parts(death))

    def send(self, request: Request) -> None:
        """Sends a request without waiting for answers, such as a Cancel; see `answers`."""
        self._child.send(encode_request(request))
