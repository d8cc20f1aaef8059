"""A folder that images appear in: which of them are new, and complete. Qt-free.

Decided here alone (`FolderWatch`), for window and terminal.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import DatasetError
from workbench.pictures.folders import entry_order, is_hidden, is_picture

# files ---------------------------------------------------------------------------------------
# The files of a folder and of those inside, with what changes when they are written.

_UNFINISHED = (".crdownload", ".download", ".filepart", ".part", ".partial", ".tmp")
"""Endings that programs give to files they are still writing."""

Mark = tuple[int, int, int]
"""Time of the last change in ns, size in bytes, number of the file on its disk."""


def mark_of(status: os.stat_result) -> Mark:
    """What changes with the content of a file."""
    return status.st_mtime_ns, status.st_size, status.st_ino


def files_of(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """All visible files, in order; raises DatasetError where the folder is gone."""
    waiting = [str(folder)]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as entries:
                visible = [entry for entry in entries if not is_hidden(entry.name)]
        except OSError as error:
            if path == str(folder):
                raise _gone(folder, error) from None
            continue  # a folder inside is gone again, or not for us
        visible.sort(key=lambda entry: entry_order(entry.name))
        inner = []
        for entry in visible:
            try:
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.path)
                elif entry.is_file() and not entry.name.lower().endswith(_UNFINISHED):
                    yield entry.path, entry.stat()
            except OSError:  # gone since it was listed
                continue
        waiting += reversed(inner)


def _gone(folder: Path, error: OSError) -> DatasetError:
    is_gone = isinstance(error, FileNotFoundError | NotADirectoryError)
    what = "The watched folder is gone." if is_gone else "The watched folder cannot be listed."
    return DatasetError(
        what, where=str(folder), received=(error.strerror or "")[:200], fix="Watch another folder."
    )


# folder watch --------------------------------------------------------------------------------
# Looks at a folder from time to time; which of its images are new, and complete.

SETTLE_S = 0.5
"""An image counts as complete when its file has not changed for so long."""

PATIENCE_S = 10.0
"""Seconds without a change after which an image that cannot be read counts as damaged: it may still
be being written."""

PAUSE_S = 0.5
_PAUSE_SHARE = 10
"""Between two scans: this, or so many times as long as the last one took."""


@dataclass
class _Seen:
    """A file as it was found.

    Attributes:
        mark: What changes with it.
        since: When it was first seen like this.
        is_taken: It was handed out, or is none of the new images.
        is_held: It could not be read, and gets some more time.
    """

    mark: Mark
    since: float
    is_taken: bool = False
    is_held: bool = False


class FolderWatch:
    """Looks at a folder and the folders inside; what is there at first is not new.

    Args:
        folder: May be removed later; links to folders are not followed.
        since_ns: What appeared after this moment (Unix time) is new, also where it is there already
            when it is first looked at; None for now.
        clock: Seconds.

    Attributes:
        folder: The same.
        num_before: Files that were there before.
        pause_s: How long to wait before the next `scan`.

    Raises:
        DatasetError: it cannot be listed; so does `scan`, once it is gone.
    """

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], float] = time.monotonic,
        *,
        since_ns: int | None = None,
    ) -> None:
        since_ns = time.time_ns() if since_ns is None else since_ns
        self.folder = folder
        self.pause_s = PAUSE_S
        self._clock = clock
        self._lock = threading.Lock()
        now = clock()
        self._seen = {
            path: _Seen(mark_of(status), now, is_taken=True)
            for path, status in files_of(folder)
            if status.st_ctime_ns < since_ns  # copying keeps the other time in many a program
        }
        self.num_before = len(self._seen)

    def scan(self) -> list[str]:
        """The images that are new, or have changed, and complete since the last call, in order."""
        began = self._clock()
        found = {path: mark_of(status) for path, status in files_of(self.folder)}
        with self._lock:
            ready = self._settled(found)
        images = [path for path in ready if is_picture(path)]
        self.pause_s = max(PAUSE_S, _PAUSE_SHARE * (self._clock() - began))
        return images

    def is_final(self, path: str, *, is_readable: bool) -> bool:
        """Whether the answer to a file of `scan` counts: one that cannot be read may be incomplete,
        and comes again when it has changed, or after `PATIENCE_S`.
        """
        with self._lock:
            seen = self._seen.get(path)
            if is_readable or seen is None or seen.is_held:
                return True
            seen.is_held, seen.is_taken, seen.since = True, False, self._clock()
            return False

    def _settled(self, found: dict[str, Mark]) -> list[str]:
        now, ready = self._clock(), []
        for path in [path for path in self._seen if path not in found]:
            del self._seen[path]
        for path, mark in found.items():
            seen = self._seen.get(path)
            if seen is None or seen.mark != mark:
                self._seen[path] = _Seen(mark, now)
            elif not seen.is_taken and now - seen.since >= _wait_s(seen):
                seen.is_taken = True
                ready.append(path)
        return ready


def _wait_s(seen: _Seen) -> float:
    is_empty = seen.mark[1] == 0
    return PATIENCE_S if seen.is_held or is_empty else SETTLE_S
