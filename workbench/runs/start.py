"""Starts a trainer: a process of its own session that goes on when its parent ends.

Of a run that another computer trains it is a run mirror: it holds the run's lock as a trainer
would, and brings the run's log here.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path

from workbench.core.projects.project import Project
from workbench.core.storage.file_lock import take_lock
from workbench.core.storage.foreign_file import read_foreign
from workbench.core.storage.own_file import open_own
from workbench.errors import RunError, RunFolderError, os_errors_as
from workbench.processes.session import start_session
from workbench.runs.control import clear_command
from workbench.runs.environment import is_remote, refuse_without_parts
from workbench.runs.extensions import Extension
from workbench.runs.folder import RunFolder
from workbench.runs.link import Link, forget_link, read_link, read_remote, write_link
from workbench.runs.ownership import check_own, check_writable
from workbench.runs.places import check_known, places_of
from workbench.runs.ready import LOCK_FD, can_be_ready, ready_trainer, variables_of
from workbench.runs.seal import sealed_cluster

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
        UnknownPlaceError: addresses that it would connect to are not confirmed (`runs.places`).
        RunError: the process cannot be started, TensorFlow is missing, the target is unknown, or
            the folder names machines that were not named here (`runs.seal`).
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
