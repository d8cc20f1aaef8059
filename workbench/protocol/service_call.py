"""A service worker for a program that may wait: the command line, scripts, tests. Qt-free.

with ServiceCall() as service:
    for answer in service.ask(Classify(id=1, model="runs/first", pictures=["a.jpg"])):
        ...
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterator
from typing import IO, Self

from workbench.errors import RunError, WireError
from workbench.protocol.messages import (
    PROTOCOL_VERSION,
    AnyAnswer,
    AnyRequest,
    BatchSizeFound,
    DataDescription,
    Done,
    Evaluation,
    Failed,
    Hello,
    LearningRateFound,
    PreflightDone,
    TestPictures,
)
from workbench.protocol.wire import (
    MAX_ANSWER_BYTES,
    decode_answer,
    encode_request,
    error_parts,
)
from workbench.protocol.worker_command import worker_command, worker_environment

FINAL_ANSWERS = (
    DataDescription,
    TestPictures,
    Evaluation,
    LearningRateFound,
    BatchSizeFound,
    PreflightDone,
    Done,
    Failed,
)
"""Kinds of answer after which nothing more comes for a request."""

STOP_SECONDS = 3.0
"""How long a worker may take at each rung of the stop ladder."""

LAST_LINES = 12
"""How many lines of its log are shown when a worker has died."""


def check_hello(hello: Hello) -> None:
    """Raises WireError when the worker speaks another version of the protocol."""
    if hello.protocol != PROTOCOL_VERSION:
        raise WireError(
            "The service worker is from a different version of Workbench.",
            received=f"protocol {hello.protocol}",
            expected=f"protocol {PROTOCOL_VERSION}",
            fix="Reinstall Workbench, so that all parts have the same version.",
        )


def death_words(exit_code: int) -> str:
    """How a worker ended, in words; a negative code is minus the signal's number."""
    if exit_code == -signal.SIGKILL:
        return "The service worker was killed (signal 9), probably because memory ran out."
    if exit_code < 0:
        names = {int(kind): kind.name for kind in signal.Signals}
        return f"The service worker crashed ({names.get(-exit_code, f'signal {-exit_code}')})."
    return f"The service worker exited unexpectedly (exit code {exit_code})."


def death_error(exit_code: int, log_lines: list[str]) -> RunError:
    """The error that every unfinished request ends with when its worker has died."""
    return RunError(
        death_words(exit_code),
        where="service worker",
        received="\n".join(log_lines[-LAST_LINES:]),
        fix="It restarts with the next request.",
    )


class ServiceCall:
    """A service worker process that lives as long as its `with` block.

    TensorFlow is imported only when a request needs it.

    Example:
        with ServiceCall() as service:
            for answer in service.ask(Classify(id=1, model="first", pictures=["a.jpg"])):
                ...
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self.hello: Hello | None = None

    def __enter__(self) -> Self:
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            worker_command("serve", "--lazy"),
            env=worker_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        return self

    def __exit__(self, *exc_info: object) -> None:
        process, log = self._process, self._log
        if process is None or process.stdin is None or process.stdout is None or log is None:
            return
        with contextlib.suppress(BrokenPipeError):  # it died half-way; `ask` has told
            process.stdin.close()
        for next_rung in (process.terminate, process.kill, process.wait):
            try:
                process.wait(STOP_SECONDS)
                break
            except subprocess.TimeoutExpired:
                next_rung()
        process.stdout.close()
        log.close()

    def ask(self, request: AnyRequest) -> Iterator[AnyAnswer]:
        """Yields the answers to one request; the last is a final one.

        When the worker dies on the way, that is a Failed with its last log lines.

        Raises:
            WireError: the request cannot be sent, or an answer cannot be read.
        """
        process = self._process
        if process is None or process.stdin is None:
            raise RunError("This service call has no worker.", fix="Use it in a `with` block.")
        line = encode_request(request)
        with contextlib.suppress(BrokenPipeError):  # it died before; its end of stdout tells
            process.stdin.write(line)
            process.stdin.flush()
        for answer in self._answers():
            if isinstance(answer, Hello):
                check_hello(answer)
                self.hello = answer
            elif answer.id == request.id or (answer.id == 0 and isinstance(answer, Failed)):
                yield answer
                if isinstance(answer, FINAL_ANSWERS):
                    return
        yield Failed(id=request.id, error=error_parts(self._death()))

    def _answers(self) -> Iterator[AnyAnswer]:
        if self._process is None or self._process.stdout is None:
            return
        while line := self._process.stdout.readline(MAX_ANSWER_BYTES + 1):
            if line.endswith(b"\n") or len(line) > MAX_ANSWER_BYTES:
                yield decode_answer(line)

    def _death(self) -> RunError:
        if self._process is None or self._log is None:
            return RunError("The service worker has not been started.")
        exit_code = self._process.wait()
        self._log.seek(0)
        lines = deque(self._log, maxlen=LAST_LINES)
        return death_error(exit_code, [line.decode("utf-8", "replace").rstrip() for line in lines])
