"""Locks on open files (flock): the kernel drops them with the process that holds them.

Process ids are reused and silence is not death; such a lock is neither.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

from workbench.core.storage.foreign_file import open_descriptor
from workbench.core.storage.own_file import open_own


def lock_descriptor(descriptor: int) -> None:
    """Locks an open file for as long as it stays open, without waiting.

    Raises:
        BlockingIOError: another process holds the lock.
        OSError: the file system has no locks.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def take_lock(path: Path, *, wait_s: float = 2.0) -> int | None:
    """Locks a file, made where it does not exist, for as long as the returned descriptor stays
    open; None when another process holds the lock.

    It is tried for `wait_s` seconds: a call of `is_locked` holds the lock for a moment. Raises
    LinkFoundError, OSError as `open_own`.
    """
    descriptor = open_own(path, os.O_RDWR | os.O_CREAT)
    deadline = time.monotonic() + wait_s
    while True:
        try:
            lock_descriptor(descriptor)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(0.01)
        else:
            return descriptor


def is_locked(path: str | Path) -> bool:
    """True while some process holds the lock.

    Raises:
        OSError: it cannot be determined: nothing is there, it is neither a regular file nor a
            folder, or not ours to read (a link is not followed), or its file system has no locks.
    """
    descriptor = open_descriptor(path, follows_links=False, takes_folders=True)
    try:
        # Shared: two that ask at once do not mistake each other for the holder.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def has_open(pid: int, path: Path) -> bool:
    """Whether a process of this account has a file open, as the holder of its lock has."""
    try:
        lock = path.stat()
        numbers = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208 - names alone
    except OSError:
        return False  # it ended, or belongs to another user
    for number in numbers:
        with contextlib.suppress(OSError):  # closed meanwhile
            if os.path.samestat(os.stat(f"/proc/{pid}/fd/{number}"), lock):  # noqa: PTH116 - as above
                return True
    return False
