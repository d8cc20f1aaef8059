"""Starts a trainer: a process of its own session that outlives whoever started it."""

from __future__ import annotations

import os
import sys

from workbench.core.file_lock import take_lock
from workbench.errors import RunError, RunFolderError
from workbench.runs.control import forget_wish
from workbench.runs.environment import trainer_environment
from workbench.runs.folder import RunFolder
from workbench.runs.lock import LOCK_FD_VARIABLE

RESUMED_MARK = "=== resumed ==="
"""Line in the log of what trainers print, between two of them."""

_LOCK_FD = 3
_started: set[int] = set()
"""Trainers of this process that have not been seen to end; see `reap`."""


def start_trainer(run: RunFolder, *, resume: bool = False) -> int:
    """Starts `python -m workbench.worker train RUN` and returns at once.

    The run is locked before the process starts and the lock is handed over, so there is no
    moment in which a living trainer looks dead.

    Args:
        run: A run that no trainer works on.
        resume: Go on from its checkpoint; what it was asked before is forgotten.

    Returns:
        The trainer's process id.

    Raises:
        RunFolderError: the folder is not a run, or a trainer works on it already.
        RunError: the process cannot be started, or the target is unknown.
    """
    project = run.request().to_project()
    environment = trainer_environment(project, {LOCK_FD_VARIABLE: str(_LOCK_FD)})
    reap()
    try:
        lock = take_lock(run.lock_path, wait_s=0.2)
    except OSError as error:
        raise _not_writable(run, error) from error
    if lock is None:
        raise RunFolderError(
            "A trainer works on this run already.", where=str(run.path), fix="Stop it first."
        )
    try:
        if resume:
            _begin_again(run, lock)
        pid = _spawn(run, lock, environment, ["--resume"] if resume else [])
    except OSError as error:
        raise RunError(
            "The trainer could not be started.",
            where=sys.executable,
            received=error.strerror or str(error),
        ) from error
    finally:
        os.close(lock)
    _started.add(pid)
    return pid


def _begin_again(run: RunFolder, lock: int) -> None:
    """Forgets what the trainer before was asked, notes where the log of events ends, and
    separates what the trainers print.
    """
    try:
        forget_wish(run)
        size = run.events_path.stat().st_size if run.events_path.exists() else 0
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{size}\n".encode(), 0)
        with run.log_path.open("a", encoding="utf-8") as log:
            log.write(f"\n{RESUMED_MARK}\n")
    except OSError as error:
        raise _not_writable(run, error) from error


def _not_writable(run: RunFolder, error: OSError) -> RunError:
    return RunError(
        "The run's folder cannot be written: no trainer can work there.",
        where=str(run.path),
        received=error.strerror or str(error),
        fix="Make room on the disk, or make the folder writable, and try again.",
    )


def log_bytes_at_start(run: RunFolder) -> int | None:
    """Size of the log of events when its last trainer was started; None for the first one."""
    try:
        return int(run.lock_path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def _spawn(run: RunFolder, lock: int, environment: dict[str, str], options: list[str]) -> int:
    # -P: files beside the user's project must not shadow Python's own modules.
    arguments = [sys.executable, "-P", "-m", "workbench.worker", "train", str(run.path)]
    arguments += options
    log_flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.posix_spawn(
        sys.executable,
        arguments,
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(run.log_path), log_flags, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
            (os.POSIX_SPAWN_DUP2, lock, _LOCK_FD),
        ],
        setsid=True,
    )


def reap() -> int:
    """Lets the kernel forget trainers of this process that have ended (no zombies).

    Returns:
        How many are still there.
    """
    for pid in list(_started):
        try:
            ended, _ = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            ended = pid
        if ended:
            _started.discard(pid)
    return len(_started)
