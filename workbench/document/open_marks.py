"""Marks by which windows of this user know who has a project file open. Qt-free.

Each window holds the lock of a small file named after the project's path. The kernel drops the
lock with the window, so that a mark of a killed window counts no more; it is removed when seen.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from workbench.core.storage.file_lock import is_locked, lock_descriptor
from workbench.core.storage.file_stamp import path_key
from workbench.core.storage.own_file import make_private

_ENDING = ".open"


class OpenMarks:
    """The mark of one window, and a look at those of the others.

    Args:
        folder: Shared by all windows of this user. One that cannot be used only means that
            windows do not see each other.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = secrets.token_hex(8)
        self._mark: Path | None = None
        self._lock = -1

    def hold(self, path: Path) -> None:
        """Marks a project as open here, and no other one."""
        self.release()
        mark = self._folder / f"{path_key(path)}.{self._token}{_ENDING}"
        with contextlib.suppress(OSError):
            make_private(self._folder)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._lock, self._mark = os.open(mark, flags, 0o600), mark
            lock_descriptor(self._lock)

    def release(self) -> None:
        """Takes this window's mark back."""
        if self._mark is not None:
            with contextlib.suppress(OSError):
                self._mark.unlink()
            os.close(self._lock)
            self._mark, self._lock = None, -1

    def is_held_elsewhere(self, path: Path) -> bool:
        """Whether another window has a project open."""
        marks = [mark for mark in self._marks() if mark != self._mark]
        held = [mark for mark in marks if _is_held(mark)]
        for mark in set(marks) - set(held):
            with contextlib.suppress(OSError):
                mark.unlink()
        return any(mark.name.startswith(f"{path_key(path)}.") for mark in held)

    def _marks(self) -> list[Path]:
        try:
            return [path for path in self._folder.iterdir() if path.suffix == _ENDING]
        except OSError:
            return []


def _is_held(mark: Path) -> bool:
    """Without an answer it counts as held: a mark is not removed unseen."""
    try:
        return is_locked(mark)
    except OSError:
        return True
