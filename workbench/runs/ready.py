"""The ready trainer: a process that has imported TensorFlow and waits for a run.

Once a run is handed to it, it is a trainer as any other: its log, lock and session, variables,
folder and priority are those of a trainer that is started for the run. Before that, it ends with
the process that has started it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import workbench
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import HERE, Project
from workbench.core.projects.project_file import project_text
from workbench.errors import WorkbenchError
from workbench.parts import TRAIN
from workbench.processes.memory import available_memory
from workbench.processes.session import start_session
from workbench.runs.environment import trainer_environment
from workbench.runs.lock import LOCK_FD_VARIABLE

LOCK_FD = 3
"""Descriptor by which a trainer inherits the lock of its run."""

ACCEPTED, BEGIN = b"A", b"B"
"""The ready trainer has all of a run; its starter has seen that, and starts no other for it."""

END_BELOW_BYTES = 1 << 30
"""Memory left on this computer below which a ready trainer ends."""

_START_ABOVE_BYTES = END_BELOW_BYTES + (1 << 30)
"""Free memory from which on a trainer is kept ready. It takes 600 MB itself: it must not end as
soon as it is there."""

_PATIENCE_S = 10.0
"""For the answer to a run: an import under way holds up the whole process for a second or two."""


def variables_of(project: Project) -> dict[str, str]:
    """All variables of a trainer of a project; errors as of `trainer_environment`."""
    return trainer_environment(project, {LOCK_FD_VARIABLE: str(LOCK_FD)})


def can_be_ready(project: Project) -> bool:
    """Whether a trainer of a project may be started before its run: on this computer's processor,
    with nothing to connect to before TensorFlow is imported.
    """
    return project.target.key == HERE.key and TRAIN.is_installed


@dataclass(frozen=True)
class _LaunchEnvironment:
    """All that a process keeps of the moment of its start: variables, working directory, nice
    level, CPU affinity, and a hash of the files of the program.
    """

    variables: Mapping[str, str]
    folder: str
    niceness: int
    cores: frozenset[int]
    program: int

    @classmethod
    def of_new_trainer(cls, variables: Mapping[str, str]) -> _LaunchEnvironment:
        """What a trainer would get that is started now with these variables; raises OSError."""
        niceness, cores = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)
        return cls(variables, str(Path.cwd()), niceness, frozenset(cores), hash(tuple(_program())))


def _program() -> Iterator[tuple[str, int, int]]:
    """What changes when Workbench or a library is updated: (path, bytes, time of change)."""
    package = Path(workbench.__file__).parent
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    places = [Path(place) for place in (sys.executable, *sorted(libraries))]
    for path in (*places, *sorted(package.rglob("*.py"))):
        status = path.stat()
        yield str(path), status.st_size, status.st_mtime_ns


class _Waiting:
    """A started process that has no run yet. Its constructor raises OSError."""

    def __init__(self, environment: _LaunchEnvironment) -> None:
        self.environment = environment
        self._connection, theirs = socket.socketpair()
        self._connection.settimeout(_PATIENCE_S)
        # What is printed before there is a run goes into its log once there is one.
        with theirs, tempfile.TemporaryFile() as printed, Path(os.devnull).open("rb") as nothing:
            descriptors = {
                0: theirs.fileno(),
                1: printed.fileno(),
                2: printed.fileno(),
                LOCK_FD: nothing.fileno(),
            }
            words = ["workbench.worker", "ready"]
            self.pid = start_session(words, environment.variables, descriptors)

    def is_alive(self) -> bool:
        """False once it has ended; it is not waited for."""
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return ended is None

    def touch(self, project: Project) -> None:
        """Keeps the waiting trainer for this project: it benchmarks its network where that is new,
        and counts from now on how long nothing happens.
        """
        content = {"project": project_text(replace(project, edits=DataEdits()))}
        with suppress(OSError):
            self._connection.sendall(json.dumps(content).encode() + b"\n")

    def begin(self, words: Sequence[str], printed: int, lock: int) -> bool:
        """Hands over a run; False where it does not answer, and does not train."""
        order = json.dumps(list(words)).encode() + b"\n"
        try:
            socket.send_fds(self._connection, [order], [printed, lock])
            is_accepted = self._connection.recv(1) == ACCEPTED
            if is_accepted:
                self._connection.sendall(BEGIN)
        except OSError:
            return False
        self._connection.close()
        return is_accepted

    def end(self) -> None:
        """Ends it at once: it has nothing to save."""
        self._connection.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


class ReadyTrainer:
    """At most one process that waits for a run. Safe from any thread; each call takes
    some milliseconds, and `hand_over` seconds where the process hangs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: _Waiting | None = None

    @property
    def pid(self) -> int:
        """Process id of the one that waits; 0 for none."""
        waiting = self._waiting
        return waiting.pid if waiting is not None and waiting.is_alive() else 0

    def keep(self, project: Project) -> bool:
        """Starts the process where none waits that a run of the project could be handed to;
        returns whether one waits. None does where memory is short.
        """
        try:
            wanted = None
            if can_be_ready(project):
                wanted = _LaunchEnvironment.of_new_trainer(variables_of(project))
        except (OSError, WorkbenchError):
            wanted = None
        with self._lock:
            waiting = self._waiting
            if waiting is not None and waiting.environment == wanted and waiting.is_alive():
                waiting.touch(project)
                return True
            self._end()
            if wanted is None or available_memory() < _START_ABOVE_BYTES:
                return False
            try:
                self._waiting = _Waiting(wanted)
            except OSError:  # `Train` starts a trainer, and reports what is wrong
                return False
            self._waiting.touch(project)
            return True

    def hand_over(
        self, words: Sequence[str], variables: Mapping[str, str], *, printed: int, lock: int
    ) -> int | None:
        """Hands a run to the process that waits: the words after `python -m workbench.worker`,
        the open log of what it prints, and the run's lock.

        Returns:
            Its process id; None where no process waits that equals one started now: then none
            works on the run.
        """
        with self._lock:
            waiting, self._waiting = self._waiting, None
        if waiting is None:
            return None
        with suppress(OSError):
            is_same = waiting.environment == _LaunchEnvironment.of_new_trainer(variables)
            if is_same and waiting.begin(words, printed, lock):
                return waiting.pid
        waiting.end()
        return None

    def release(self) -> None:
        """Ends the process that waits."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.end()


ready_trainer = ReadyTrainer()
"""The ready trainer of this process. Only a window keeps one: elsewhere every trainer is started
for its run."""
