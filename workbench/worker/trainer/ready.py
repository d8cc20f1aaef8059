"""`python -m workbench.worker ready`: imports TensorFlow and waits for a run to train.

The other side is `runs.start`. Nothing else is prepared in this process: what a run needs is only
known with it. How the open project's network trains fastest is benchmarked by a fork of it.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import socket
import threading
import time
from dataclasses import dataclass

from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project
from workbench.processes.memory import available_memory
from workbench.runs.folder import LOCK_FD_VARIABLE
from workbench.runs.start import ACCEPTED, BEGIN, END_BELOW_BYTES
from workbench.worker.process.lazy_keras import LazyKeras
from workbench.worker.process.setup import raise_oom_score

_UNUSED_S = 20 * 60.0
_LOOK_S = 5.0
_SOON_S = 0.1
_MOST_BYTES = 1 << 16


@dataclass(frozen=True)
class Order:
    """A run to train: the words of its trainer's command line, and the open files of its log and
    its lock.
    """

    words: list[str]
    printed: int
    lock: int


def wait_for_run() -> list[str] | None:
    """Waits with TensorFlow imported; then this process is the trainer of a run.

    Returns:
        The words of its command line; None where there is no run: the process is to end.
    """
    raise_oom_score()
    importing = threading.Thread(target=_import_all, name="import-tensorflow", daemon=True)
    importing.start()
    with socket.socket(fileno=os.dup(0)) as connection:
        order = receive_order(connection, OpenProject(importing))
        try:
            if order is None or not _is_begun(connection):
                return None
        except OSError:  # the starter is gone
            return None
    _become_trainer(order)
    return order.words


def _import_all() -> None:
    LazyKeras().keras()
    importlib.import_module("workbench.worker.trainer.training")


class OpenProject:
    """The project that is open in the window: benchmarked once TensorFlow is imported."""

    def __init__(self, importing: threading.Thread) -> None:
        self._importing = importing
        self._project: Project | None = None

    @property
    def waits(self) -> bool:
        """Whether one is there that is not benchmarked yet."""
        return self._project is not None

    def take(self, project: Project) -> None:
        """Takes the project, which was opened or changed."""
        self._project = project

    def look(self) -> None:
        """Begins the benchmark where one waits, and the import is over."""
        if self._project is None or self._importing.is_alive():
            return
        from workbench.worker.execution.compiled import benchmark_ahead
        from workbench.worker.trainer.ready_benchmark import begin_benchmark

        begin_benchmark(benchmark_ahead, self._project)
        self._project = None


def receive_order(
    connection: socket.socket,
    open_project: OpenProject,
    *,
    unused_s: float = _UNUSED_S,
    least_bytes: int = END_BELOW_BYTES,
    look_s: float = _LOOK_S,
) -> Order | None:
    """The run that comes over a connection, on which signs of use and open projects come before
    it; None where its other end is closed, nothing has come for so many seconds, or less memory is
    left, which is looked at every `look_s` seconds.
    """
    received = b""
    files: list[int] = []
    used = time.monotonic()
    while True:
        open_project.look()
        patience_s = min(look_s, _SOON_S) if open_project.waits else look_s
        if not select.select([connection], [], [], patience_s)[0]:
            if time.monotonic() - used >= unused_s or available_memory() < least_bytes:
                return None
            continue
        used = time.monotonic()
        try:
            data, fds, _, _ = socket.recv_fds(connection, _MOST_BYTES, 2)
        except ConnectionError:
            return None
        if not data:
            return None
        *lines, received = (received + data).split(b"\n")
        files += fds
        for line in filter(None, lines):
            content = json.loads(line)
            if isinstance(content, list):
                return Order(content, *files)
            open_project.take(parse_project(content["project"], "the open project"))


def _is_begun(connection: socket.socket) -> bool:
    """Exchanges with the starter that this process, and no other, trains the run."""
    connection.sendall(ACCEPTED)
    return connection.recv(1) == BEGIN


def _become_trainer(order: Order) -> None:
    """Gives this process the descriptors of a trainer that is started for a run."""
    early = os.dup(1)
    for number in (1, 2):
        os.dup2(order.printed, number)
    if printed := os.pread(early, os.fstat(early).st_size, 0):
        os.write(1, printed)
    os.dup2(order.lock, int(os.environ[LOCK_FD_VARIABLE]))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for number in (early, nothing, order.printed, order.lock):
        os.close(number)
