"""The proof that a trainer lives: a lock on a file, which the kernel drops with the process.

Process ids are reused and silence is not death; a lock of `flock` is neither.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

LOCK_FD_VARIABLE = "WORKBENCH_LOCK_FD"
"""Environment variable: number of the locked descriptor that a trainer inherits."""


def take_lock(path: Path, *, wait_s: float = 2.0) -> int | None:
    """Locks the file for as long as the returned descriptor stays open.

    Args:
        path: The lock file; made where it does not exist.
        wait_s: How long to try: a prober holds the lock for a moment.

    Returns:
        The descriptor, or None when another process holds the lock.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(0.01)
        else:
            return descriptor


def is_locked(path: Path) -> bool:
    """True while some process holds the lock."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Shared: two probers do not mistake each other for a trainer.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
