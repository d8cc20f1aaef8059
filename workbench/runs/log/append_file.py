"""A file that is only appended to, by a writer that no full disk stops.

What cannot be written waits in memory, in order, and is tried again; a line that was cut
short by a full disk is completed, so no line is torn while the writer is running. A reserve on
the disk is given up when it is full: there is then room to say so.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from workbench.core.storage.own_file import open_own
from workbench.errors import LinkFoundError, SaveError

_RETRY_S = 1.0
_RESERVE_BYTES = 64 * 1024
_RESERVE_AGAIN_S = 5.0
_MUCH_SPACE = 4 * _RESERVE_BYTES
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}

_CAUSES = {
    errno.ENOSPC: ("the disk is full", "Free some disk space."),
    errno.EDQUOT: ("your disk quota is used up", "Free some disk space."),
    errno.EFBIG: ("the file exceeds the size limit", "Raise the file size limit."),
    errno.EROFS: ("the disk is read-only", "Make the disk writable again."),
    errno.EACCES: ("no write permission", "Make the folder writable again."),
    errno.ENOENT: ("it was removed", "Restore the folder, or stop the run."),
    errno.EIO: ("the disk reported an error", "Check the disk."),
}


def cannot_write(path: Path, error: OSError) -> SaveError:
    """What an appended file's trouble means, in words."""
    cause, fix = _CAUSES.get(error.errno or 0, (error.strerror or str(error), ""))
    return SaveError(
        f'"{path.name}" cannot be written: {cause}. The log is kept in memory meanwhile.',
        where=str(path.parent),
        fix=f"{fix} Training continues meanwhile.".strip(),
    )


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raises an OSError as what it means for an appended file."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error


class AppendFile:
    """Appends lines to a file, made where there is none (OSError, and LinkFoundError where a link
    has its name); for one thread at a time. Without a reserve it writes no other file: for folders
    of the user's.

    Attributes:
        problem: Why lines wait in memory; None while all goes well.
        waiting_bytes: Size of what could not be written yet.
        has_given_up_reserve: The disk was found full, and has not been seen with room since.
    """

    def __init__(self, path: Path, *, has_reserve: bool = True) -> None:
        self._path = path
        self._has_reserve = has_reserve
        self._reserve = path.with_name(f"{path.stem}.reserve")
        self._file = open_own(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._waiting: deque[bytes] = deque()
        self.waiting_bytes = 0
        self._written = 0
        self._retry_at = 0.0
        self._reserve_at = 0.0
        self.problem: OSError | None = None
        self.has_given_up_reserve = False
        self._make_reserve()

    def append(self, line: bytes) -> None:
        """Writes a line, or keeps it for later; raises OSError where the file was closed."""
        if self._file < 0:
            raise OSError(errno.EBADF, "the file was closed", str(self._path))
        self._waiting.append(line)
        self.waiting_bytes += len(line)
        if self.problem is None or time.monotonic() >= self._retry_at:
            self.flush()

    def flush(self) -> bool:
        """Writes what waits; returns whether all of it is written."""
        while self._waiting:
            try:
                count = os.write(self._file, memoryview(self._waiting[0])[self._written :])
            except OSError as error:
                if error.errno in _NO_SPACE and self._give_up_reserve():
                    continue
                self.problem = error
                self._retry_at = time.monotonic() + _RETRY_S
                return False
            self._take(count)
        self.problem = None
        self._make_reserve()
        return True

    def _take(self, count: int) -> None:
        """Discards what was written: the first line, or a part of it."""
        self._written += count
        self.waiting_bytes -= count
        if self._written == len(self._waiting[0]):
            self._waiting.popleft()
            self._written = 0

    def sync(self) -> None:
        """Waits for the disk; raises SaveError if not all is there. Others may append."""
        with writing(self._path):
            if self.problem is not None:
                raise self.problem
            os.fsync(self._file)
            if not os.fstat(self._file).st_nlink:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def close(self) -> None:
        """Writes what still can be written and closes the file."""
        if self._file < 0:
            return
        self.flush()
        os.close(self._file)
        self._file = -1
        self._remove_reserve()

    def _make_reserve(self) -> None:
        """Keeps some of the disk for later, unless it is kept or there is too little."""
        now = time.monotonic()
        if not self._has_reserve:
            return
        if now < self._reserve_at or (self._reserve_at and not self.has_given_up_reserve):
            return
        self._reserve_at = now + _RESERVE_AGAIN_S
        with contextlib.suppress(OSError, LinkFoundError):
            disk = os.statvfs(self._path.parent)
            if disk.f_bavail * disk.f_frsize < _MUCH_SPACE:
                self.has_given_up_reserve = True
                return
            descriptor = open_own(self._reserve, os.O_WRONLY | os.O_CREAT)
            try:
                os.posix_fallocate(descriptor, 0, _RESERVE_BYTES)
            finally:
                os.close(descriptor)
            self.has_given_up_reserve = False

    def _give_up_reserve(self) -> bool:
        """Makes room; False where none was kept."""
        self.has_given_up_reserve = True
        return self._remove_reserve()

    def _remove_reserve(self) -> bool:
        if not self._has_reserve:
            return False
        try:
            self._reserve.unlink()
        except OSError:
            return False
        return True
