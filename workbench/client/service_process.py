"""The window's service worker: started when needed, never waited for. QtCore only."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import msgspec
from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, QTimer, Signal

from workbench.client.background import Background
from workbench.core.storage.foreign_file import without_noise
from workbench.errors import RunError, WireError, WorkbenchError
from workbench.protocol.bases import Answer, FinalAnswer, Request
from workbench.protocol.messages import Cancel, Failed, Hello, Progress
from workbench.protocol.service_call import (
    STOP_SECONDS,
    check_hello,
    death_error,
    worker_command,
    worker_environment,
)
from workbench.protocol.wire import (
    MAX_ANSWER_BYTES,
    decode_answer,
    encode_request,
    error_from_parts,
    error_parts,
)

OnAnswer = Callable[[Answer], None]

_STOP_MS = int(STOP_SECONDS * 1000)
_MAX_LOG_LINE_BYTES = 64 * 1024
_LAST_LINES = 12
"""How many lines of its log are shown when a worker has died."""


@dataclass(frozen=True)
class _Asked:
    """A request that has no final answer yet; nobody waits for that of one that is canceled."""

    line: bytes
    on_answer: OnAnswer
    is_canceled: bool = False


class ServiceProcess(QObject):
    """Sends requests to a service worker and hands out its answers; never blocks.

    The worker starts with `start` or the first request, and again with the next request
    after it has died. Whatever happens, each request ends in one final answer: its own,
    or Failed with the reason in words. A worker that dies at work fails the request under way
    alone: those that waited behind it go to the next worker. `state` are the words of the last
    `state_changed`.

    Signals:
        state_changed: What the worker is doing, in words.
        log_line: A line the worker or its libraries printed.
        died: The worker ended unexpectedly; how, in words.
    """

    state_changed = Signal(str)
    log_line = Signal(str)
    died = Signal(str)

    def __init__(self, parent: QObject | None = None, command: list[str] | None = None) -> None:
        super().__init__(parent)
        self._command = command or worker_command("serve")
        self._process: QProcess | None = None
        self._ending: list[QProcess] = []
        self._asked: dict[int, _Asked] = {}
        self._next_id = 1
        self._is_ready = False
        self.state = "The service worker is not started"
        self._last_lines: deque[str] = deque(maxlen=_LAST_LINES)

    @property
    def is_ready(self) -> bool:
        """Whether the worker takes requests."""
        return self._is_ready

    def start(self) -> None:
        """Starts the worker, so that the first request waits less; no-op while it runs."""
        if self._process is not None:
            return
        self._is_ready = False
        self._last_lines.clear()
        process = QProcess(self)
        environment = QProcessEnvironment()
        for name, value in worker_environment().items():
            environment.insert(name, value)
        process.setProcessEnvironment(environment)
        process.readyReadStandardOutput.connect(self._on_output)
        process.readyReadStandardError.connect(self._on_log)
        process.finished.connect(self._on_finished)
        process.errorOccurred.connect(self._on_error)
        self._process = process
        self._set_state("Starting the service worker")
        process.start(self._command[0], self._command[1:])

    def send(self, request: Request, on_answer: OnAnswer) -> int:
        """Sends a request; its `id` field is set here, and returned for `cancel`.

        Args:
            request: What to do; any id.
            on_answer: Called in this thread with each answer, last with a final one.
        """
        request_id = self._next_id
        self._next_id += 1
        try:
            line = encode_request(msgspec.structs.replace(request, id=request_id))
        except WireError as error:
            self._asked[request_id] = _Asked(b"", on_answer)
            self._answer_later(request_id, error)
            return request_id
        self._asked[request_id] = _Asked(line, on_answer)
        self.start()
        if self._is_ready:
            self._write(line)
        return request_id

    def cancel(self, request_id: int) -> None:
        """Cancels a request: it soon ends in Failed, unless it just finished."""
        if request_id not in self._asked:
            return
        if self._is_ready:
            self._asked[request_id] = replace(self._asked[request_id], is_canceled=True)
            cancel_id = self._next_id
            self._next_id += 1
            self._write(encode_request(Cancel(id=cancel_id, target=request_id)))
        else:  # it has not been sent yet
            self._answer_later(request_id, RunError("Canceled."))

    def stop(self) -> None:
        """Ends the worker: stdin closed, 3 s, terminated, 3 s, killed. Returns at once."""
        process = self._detach()
        self._fail_all(RunError("The service worker was stopped."))
        if process is None:
            return
        self._let_end(process)
        process.closeWriteChannel()
        QTimer.singleShot(_STOP_MS, process, process.terminate)
        QTimer.singleShot(2 * _STOP_MS, process, process.kill)
        self._set_state("The service worker is stopped")

    def end(self) -> None:
        """Ends the process as `stop` does, and waits for that: at the end of the application, after
        its windows.

        Unfinished requests are dropped, not failed: a message about them would keep the
        application open for an answer that nobody waits for.
        """
        self._asked.clear()
        process = self._detach()
        if process is not None:
            self._let_end(process)
        for process in list(self._ending):
            for rung in (process.closeWriteChannel, process.terminate, process.kill):
                rung()
                is_over = process.state() == QProcess.ProcessState.NotRunning
                if is_over or process.waitForFinished(_STOP_MS):
                    break

    # what the worker says --------------------------------------------------------------

    def _on_output(self) -> None:
        if self._process is None:
            return
        try:
            for line in _lines(self._process, MAX_ANSWER_BYTES):
                self._take(decode_answer(line))
        except WireError as error:
            self._break_off(error)

    def _take(self, answer: Answer) -> None:
        if isinstance(answer, Hello):
            check_hello(answer)
            self._is_ready = True
            self._set_state("The service worker is ready")
            for asked in list(self._asked.values()):
                self._write(asked.line)
        elif isinstance(answer, FinalAnswer):
            self._finish(answer.id, answer)
        elif (waiting := self._asked.get(answer.id)) is not None:
            waiting.on_answer(answer)

    def _finish(self, request_id: int, answer: Answer) -> None:
        asked = self._asked.pop(request_id, None)
        if asked is not None:
            asked.on_answer(answer)

    def _on_log(self) -> None:
        if self._process is None:
            return
        self._process.setReadChannel(QProcess.ProcessChannel.StandardError)
        lines = _lines(self._process, _MAX_LOG_LINE_BYTES)
        self._process.setReadChannel(QProcess.ProcessChannel.StandardOutput)
        for text in (line.decode("utf-8", "replace").rstrip() for line in lines):
            self._last_lines.append(text)
            self.log_line.emit(text)

    # how it ends -----------------------------------------------------------------------

    def _on_finished(self, exit_code: int, status: QProcess.ExitStatus) -> None:
        self._on_output()
        self._on_log()
        crashed = status == QProcess.ExitStatus.CrashExit
        code = -exit_code if crashed else exit_code
        error = death_error(code, "\n".join(without_noise(self._last_lines)))
        self._die(error, at_work=self._is_ready)

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and self._process is not None:
            words = self._process.errorString()
            self._die(
                RunError(
                    "The service worker could not be started.",
                    where=self._command[0],
                    received=words,
                    fix="Reinstall Workbench.",
                )
            )

    def _break_off(self, error: WireError) -> None:
        """A worker that does not keep to the protocol is not listened to any longer."""
        if self._process is not None:
            process = self._process
            self._die(error)
            process.kill()

    def _die(self, error: WorkbenchError, *, at_work: bool = False) -> None:
        """Fails what is open; of a worker that was at work, only what it had begun."""
        process = self._process
        if process is None:
            return
        self._forget(process)
        if process.state() == QProcess.ProcessState.NotRunning:
            process.deleteLater()
        else:
            self._let_end(process)
        self._set_state(error.what)
        self._fail_all(error, self._not_begun() if at_work else ())
        self.died.emit(str(error))
        if self._asked:
            self.start()

    def _detach(self) -> QProcess | None:
        """Lets go of the running worker."""
        process = self._process
        if process is not None:
            self._forget(process)
        return process

    def _let_end(self, process: QProcess) -> None:
        """Keeps a released process until it has ended, as Qt requires."""
        self._ending.append(process)
        process.finished.connect(self._on_ended)

    def _on_ended(self) -> None:
        # No lambda that holds the process: Qt would then destroy what it is calling.
        for process in list(self._ending):
            if process.state() == QProcess.ProcessState.NotRunning:
                self._ending.remove(process)
                process.deleteLater()

    def _forget(self, process: QProcess) -> None:
        process.readyReadStandardOutput.disconnect(self._on_output)
        process.readyReadStandardError.disconnect(self._on_log)
        process.finished.disconnect(self._on_finished)
        process.errorOccurred.disconnect(self._on_error)
        self._process = None
        self._is_ready = False

    def _not_begun(self) -> tuple[int, ...]:
        """Requests behind the oldest one, which is the one that the worker does. So each death
        fails one at least: requests that end every worker come to an end, too.
        """
        behind = islice(self._asked.items(), 1, None)
        return tuple(number for number, asked in behind if not asked.is_canceled)

    def _fail_all(self, error: WorkbenchError, but: Collection[int] = ()) -> None:
        # A callback may send a request at once: only what is unfinished now ends here.
        unfinished = {key: each for key, each in self._asked.items() if key not in but}
        self._asked = {key: self._asked[key] for key in but}
        for request_id, asked in unfinished.items():
            asked.on_answer(Failed(id=request_id, error=error_parts(error)))

    def _answer_later(self, request_id: int, error: WorkbenchError) -> None:
        failed = Failed(id=request_id, error=error_parts(error))
        QTimer.singleShot(0, self, lambda: self._finish(request_id, failed))

    def _write(self, line: bytes) -> None:
        if self._process is not None and line:
            self._process.write(line)

    def _set_state(self, words: str) -> None:
        self.state = words
        self.state_changed.emit(words)


def _lines(process: QProcess, max_bytes: int) -> list[bytes]:
    """The lines that have come on a process' read channel, and pieces of one that is longer than
    the limit, so that the memory does not fill with it. Nothing is left for a callback that
    ends the process, or runs an event loop of its own.
    """
    lines = []
    while process.canReadLine() or process.bytesAvailable() > max_bytes:
        lines.append(bytes(process.readLine(max_bytes + 2).data()))  # Qt leaves room for a NUL
    return [line for line in lines if line.strip()]


# question ------------------------------------------------------------------------------------
# A request to a worker: its progress, answer and failure in one place. QtCore only.


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


# answer loader -------------------------------------------------------------------------------
# A request whose answer names files: they are read in a thread. QtCore only.


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
