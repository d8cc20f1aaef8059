"""The proof that a trainer lives: the lock that it holds on a file of its run."""

from __future__ import annotations

from pathlib import Path

from workbench.core import file_lock

LOCK_FD_VARIABLE = "WORKBENCH_LOCK_FD"
"""Environment variable: number of the locked descriptor that a trainer inherits."""


def is_locked(path: Path) -> bool:
    """True while a trainer holds the run's lock; False too where there is no lock file."""
    try:
        return file_lock.is_locked(path)
    except OSError:
        return False
