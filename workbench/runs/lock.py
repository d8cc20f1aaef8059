"""The proof that a trainer is running: the lock that it holds on a file of its run."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.core.storage import file_lock

LOCK_FD_VARIABLE = "WORKBENCH_LOCK_FD"
"""Environment variable: number of the locked descriptor that a trainer inherits."""


def is_locked(path: Path) -> bool:
    """True while a trainer holds the run's lock; False too where there is no lock file."""
    try:
        return file_lock.is_locked(path)
    except OSError:
        return False


def inherited_lock(path: Path) -> int | None:
    """The descriptor of a run's lock that this process was started with; None without one."""
    text = os.environ.pop(LOCK_FD_VARIABLE, "")
    if not text.isdigit():
        return None
    descriptor = int(text)
    try:
        is_ours = os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return None
    if not is_ours:
        return None
    # Not for child processes: the lock must end with this process.
    os.set_inheritable(descriptor, False)
    file_lock.lock_descriptor(descriptor)
    return descriptor
