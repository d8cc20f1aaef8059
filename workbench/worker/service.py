"""The service worker: classifies, evaluates, describes and exports, one request at a time.

It says Hello before it imports TensorFlow, reads requests in a thread of its own so that
a cancel takes effect while another request is running, and ends when its stdin closes.
Every request ends in a final answer or in Failed. Downloads go on beside other requests.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable
from importlib import import_module
from typing import Any

from workbench.errors import RunError, WireError, WorkbenchError
from workbench.protocol.bases import PROTOCOL_VERSION, Answer, FinalAnswer, Request
from workbench.protocol.messages import Cancel, Done, Failed, Hello, Progress
from workbench.protocol.wire import error_parts
from workbench.worker.channel import Channel
from workbench.worker.process.lazy_keras import LazyKeras
from workbench.worker.process.setup import SessionFolder, raise_oom_score, versions
from workbench.worker.requests.session import Job, Session


def serve(write_fd: int) -> int:
    """Serves requests from stdin until it closes; returns the exit code.

    Answers go to `write_fd`, from `claim_stdout`. TensorFlow is imported when a request needs it:
    classifying does not.
    """
    # Ctrl+C reaches the whole process group: the parent process decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    raise_oom_score()
    channel = Channel(0, write_fd)
    channel.send(Hello(protocol=PROTOCOL_VERSION, versions=versions(), pid=os.getpid()))
    # Held back until the folder would be removed: SIGTERM may come while it is being made.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    with SessionFolder() as folder:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        Service(channel, folder).run()
    return 0


class Service:
    """The loop: a reader thread fills the queue, the main thread does the work."""

    def __init__(self, channel: Channel, folder: SessionFolder) -> None:
        self._channel = channel
        self._session = Session(folder.path, LazyKeras())
        self._queue: queue.SimpleQueue[tuple[Job, Request] | None] = queue.SimpleQueue()
        self._jobs: OrderedDict[int, Job] = OrderedDict()
        self._jobs_lock = threading.Lock()

    def run(self) -> None:
        """Works until stdin closes; then what is still waiting is canceled."""
        threading.Thread(target=self._read, name="requests", daemon=True).start()
        while (item := self._queue.get()) is not None:
            self._finish(*item)

    def _finish(self, job: Job, request: Request) -> None:
        """Does a request and sends its final answer."""
        answer = self._do(job, request)
        with self._jobs_lock:
            self._jobs.pop(job.id, None)
        try:
            self._channel.send(answer)
        except WireError as error:  # too long, or with a text that is no Unicode
            self._channel.send(Failed(id=job.id, error=error_parts(error)))

    def _read(self) -> None:
        while (request := self._channel.receive()) is not None:
            if isinstance(request, Cancel):
                self._cancel(request)
            else:
                self._accept(request)
        with self._jobs_lock:
            for job in self._jobs.values():
                job.cancel()
        self._queue.put(None)

    def _accept(self, request: Request) -> None:
        job = Job(request.id, send=self._sender(request), session=self._session)
        with self._jobs_lock:
            is_new = self._jobs.setdefault(request.id, job) is job
        if is_new and request.is_beside:
            beside = threading.Thread(
                target=self._finish, args=(job, request), name="beside", daemon=True
            )
            beside.start()
        elif is_new:
            self._queue.put((job, request))
        else:
            error = RunError("A request with this number is still running.", where="id")
            self._channel.send(Failed(id=request.id, error=error_parts(error)))

    def _sender(self, request: Request) -> Callable[[Answer], None]:
        """What its handler sends answers with before the final one."""

        def send(answer: Answer) -> None:
            if not isinstance(answer, (Progress, *request.partial_answers)):
                raise TypeError(f"no partial answer: {type(answer).__name__}")
            self._channel.send(answer)

        return send

    def _cancel(self, request: Cancel) -> None:
        with self._jobs_lock:
            job = self._jobs.get(request.target)
            if job is not None:
                job.cancel()
        self._channel.send(Done(id=request.id, text="" if job else "It has already finished."))

    def _do(self, job: Job, request: Request) -> FinalAnswer:
        try:
            job.check_cancelled()
            return _answer(job, request)
        except WorkbenchError as error:
            return Failed(id=job.id, error=error_parts(error))
        except MemoryError:
            return Failed(id=job.id, error=error_parts(_too_little_memory(request)))
        except Exception as error:  # noqa: BLE001 - sent to the client, with its trace in the log
            traceback.print_exc()
            return Failed(id=job.id, error=error_parts(_fault(error, request)))


def _answer(job: Job, request: Request) -> FinalAnswer:
    """Handles a request. Another answer than the one it declares is an internal error: with one
    that is not final, the other side would wait for ever.
    """
    answer = handler_of(type(request))(job, request)
    if not isinstance(answer, request.final_answer):
        raise TypeError(f"no {request.final_answer.__name__}: {type(answer).__name__}")
    return answer


def handler_of(kind: type[Request]) -> Callable[[Job, Any], FinalAnswer]:
    """The handler of a kind of request: it has the name of the kind's tag.

    Each is imported with its first request: Hello, and the description of data, come before the
    layers and TensorFlow.
    """
    name = str(kind.__struct_config__.tag)
    handlers = import_module(f"workbench.worker.requests.{kind.handler or name}")
    handler: Callable[[Job, Any], FinalAnswer] = getattr(handlers, name)
    return handler


def _fault(error: Exception, request: Request) -> RunError:
    return RunError(
        "Internal error in the service worker.",
        where=_name(request),
        received=f"{type(error).__name__}: {error}"[:400],
        fix="See the log for details.",
    )


def _too_little_memory(request: Request) -> RunError:
    return RunError(
        "Not enough memory for this.",
        where=_name(request),
        fix="Close other programs, or use smaller images.",
    )


def _name(request: Request) -> str:
    return type(request).__name__


def _leave(signum: int, _frame: Any) -> None:
    raise SystemExit(128 + signum)
