"""Locks of a home folder: what several processes change together is changed by one at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from workbench.core.storage.file_lock import take_lock
from workbench.core.storage.own_file import make_private
from workbench.errors import RunError, SaveError, os_errors_as

QUEUE_LOCK = ".queue.lock"
SERIES_LOCK = ".series.lock"


@contextlib.contextmanager
def home_lock(home: Path, name: str, title: str, wait_s: float) -> Iterator[None]:
    """Holds a lock of a home folder, which is made where there is none.

    Args:
        home: The folder.
        name: The lock's file.
        title: What it protects, in messages: "queue".
        wait_s: How long another process or thread is waited for, in seconds.

    Raises:
        RunError: another one holds it all the time.
        SaveError: the folder cannot be written.
    """
    fix = "Choose a writable runs folder."
    with os_errors_as(SaveError, f"The {title} cannot be changed.", home, fix=fix):
        make_private(home)
        lock = take_lock(home / name, wait_s=wait_s)
    if lock is None:
        raise RunError(
            f"The {title} is locked by another process.",
            where=str(home / name),
            fix="Try again, or end other Workbench processes.",
        )
    try:
        yield
    finally:
        os.close(lock)
