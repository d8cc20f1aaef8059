"""Starts a trainer: a process of its own session that goes on when its parent ends.

Of a run that another computer trains it is a run mirror: it holds the run's lock as a trainer
would, and brings the run's log here.
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
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import workbench
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import HERE, Project
from workbench.core.projects.project_file import project_text
from workbench.core.storage.foreign_file import read_foreign
from workbench.core.storage.own_file import open_own, take_lock
from workbench.errors import RunError, RunFolderError, WorkbenchError, os_errors_as
from workbench.parts import TRAIN
from workbench.processes.child import start_session
from workbench.processes.memory import available_memory
from workbench.runs.control import clear_command
from workbench.runs.environment import is_remote, refuse_without_parts, trainer_environment
from workbench.runs.folder import LOCK_FD_VARIABLE, Extension, RunFolder
from workbench.runs.home import check_own, check_writable
from workbench.runs.link import Link, forget_link, read_link, read_remote, write_link
from workbench.runs.trust import check_known, places_of, sealed_cluster

# ready ---------------------------------------------------------------------------------------
# The ready trainer: a process that has imported TensorFlow and waits for a run.
#
# Once a run is handed to it, it is a trainer as any other: its log, lock and session, variables,
# folder and priority are those of a trainer that is started for the run. Before that, it ends with
# the process that has started it.

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


# start ---------------------------------------------------------------------------------------

RESUMED_MARK = "=== resumed ==="
"""Line in the log of what trainers print, between two of them."""

_MOST_LOCK_BYTES = 64

_started: set[int] = set()
"""Trainers of this process that have not been seen to end; see `reap`."""


def start_trainer(
    run: RunFolder, *, resume: bool = False, extension: Extension | None = None
) -> int:
    """Starts the trainer of a run, or the run mirror to where it is trained; returns its process id
    at once.

    The run is locked before the process starts and the lock is handed over, so there is no moment
    in which a running trainer looks ended. With `resume` it goes on from its checkpoint, with an
    `extension` for more epochs than were planned; an earlier command is removed.

    Raises:
        RunFolderError: the folder is not a run, or a trainer works on it already.
        LinkFoundError: it is behind a link, or a file of it is one.
        UnknownPlaceError: addresses that it would connect to are not confirmed (`runs.trust`).
        RunError: the process cannot be started, TensorFlow is missing, the target is unknown, or
            the folder names machines that were not named here (`runs.trust`).
        SaveError: the extension cannot be written.
    """
    project = run.project()
    starts_mirror = is_remote(project.target)
    _check_start(run, project, starts_mirror=starts_mirror)
    environment = variables_of(project)
    reap()
    with _writing(run):
        lock = take_lock(run.lock_path, wait_s=0.2)
    if lock is None:
        raise RunFolderError(
            "This run is already being trained.", where=str(run.path), fix="Stop it first."
        )
    try:
        _prepare(run, lock, resume=resume, starts_mirror=starts_mirror)
        if resume:
            run.extend(extension)
        with os_errors_as(RunError, "The training process could not be started.", sys.executable):
            words, log = _mirror(run) if starts_mirror else _trainer(run)
            pid = _process(run, [*words, *["--resume"] * resume], log, lock, environment)
    finally:
        os.close(lock)
    _started.add(pid)
    return pid


def may_reattach(run: RunFolder) -> bool:
    """Whether a run mirror can succeed: a rejection by the other computer needs the user."""
    link = read_link(run)
    return link is None or link.state != "refused"


def reattach(run: RunFolder) -> int:
    """Starts a run mirror for a run that goes on elsewhere without a connection here; as
    `start_trainer`, and RunFolderError where the run is nowhere else.
    """
    if read_remote(run) is None:
        raise RunFolderError(
            "This run is not on another computer.",
            where=str(run.path),
            fix="Its state is shown in Train, in a terminal by `workbench runs`.",
        )
    return start_trainer(run)


def _check_start(run: RunFolder, project: Project, *, starts_mirror: bool) -> None:
    """Raises LinkFoundError, RunFolderError, MissingPartError, UnknownPlaceError, RunError."""
    check_own(run.path)
    files = (run.events_path, run.log_path, run.crash_path, run.weights_path, run.card_path)
    check_writable(files, [run.checkpoints_path])
    refuse_without_parts(project.target)
    if not starts_mirror:
        sealed_cluster(run)
    check_known(*places_of(run))


def _prepare(run: RunFolder, lock: int, *, resume: bool, starts_mirror: bool) -> None:
    with _writing(run):
        if starts_mirror:
            # Before its process is there: from here on the lock is a run mirror's.
            write_link(run, Link(state="connecting", since=time.time()))
        else:
            forget_link(run)
        if resume:
            _begin_again(run, lock, marks_log=not starts_mirror)


def _begin_again(run: RunFolder, lock: int, *, marks_log: bool) -> None:
    """Removes the command to the earlier trainer, notes where the log of events ends, and
    separates what the trainers print; what those elsewhere print is separated there.
    """
    clear_command(run)
    size = run.events_path.stat().st_size if run.events_path.exists() else 0
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{size}\n".encode(), 0)
    if marks_log:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(open_own(run.log_path, flags), "a", encoding="utf-8") as log:
            log.write(f"\n{RESUMED_MARK}\n")


def _writing(run: RunFolder) -> AbstractContextManager[None]:
    fix = "Free some disk space or make the folder writable, then try again."
    return os_errors_as(RunError, "The run folder cannot be written.", run.path, fix=fix)


def log_bytes_at_start(run: RunFolder) -> int | None:
    """Size of the log of events when its last trainer was started; None for the first one."""
    try:
        return int(read_foreign(run.lock_path, _MOST_LOCK_BYTES).decode("ascii"))
    except (OSError, ValueError):
        return None


def _process(
    run: RunFolder, words: list[str], log: Path, lock: int, environment: dict[str, str]
) -> int:
    """Starts `python -m WORDS` for a run, printing to `log`, or hands the run to the process that
    is ready for one; returns its process id.
    """
    printed = open_own(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        if can_be_ready(run.project()) and sealed_cluster(run) is None:
            pid = ready_trainer.hand_over(words[1:], environment, printed=printed, lock=lock)
            if pid is not None:
                return pid
        with Path(os.devnull).open("rb") as nothing:
            descriptors = {0: nothing.fileno(), 1: printed, 2: printed, LOCK_FD: lock}
            return start_session(words, environment, descriptors)
    finally:
        os.close(printed)


def joins_another(run: RunFolder) -> bool:
    """Whether the folder is of a machine that is not the chief; errors as of `sealed_cluster`."""
    cluster = sealed_cluster(run)
    return cluster is not None and cluster.index > 0


def _trainer(run: RunFolder) -> tuple[list[str], Path]:
    verb = "join" if joins_another(run) else "train"
    return ["workbench.worker", verb, str(run.path)], run.log_path


def _mirror(run: RunFolder) -> tuple[list[str], Path]:
    return ["workbench.remote", str(run.path)], run.mirror_log_path


def reap() -> int:
    """Lets the kernel forget trainers of this process that have ended; how many are left."""
    for pid in list(_started):
        try:
            ended, _ = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            ended = pid
        if ended:
            _started.discard(pid)
    return len(_started)
