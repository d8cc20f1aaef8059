"""The copy of a log that another computer writes: always the first bytes of the one there.

What arrives carries its place. Only what continues the copy is taken, so that no cut of the
line, wherever it falls, loses or doubles a byte.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from workbench.errors import RemoteError, SaveError, os_errors_as
from workbench.runs.log.append_file import cannot_write

DIGEST_BYTES = 64 * 1024
"""How much before the end of the copy is held against the log there at each connection."""

_ANEW_SUFFIX = ".anew"


class LogMirror:
    """The local copy of a log, made where there is none (SaveError); only one process may write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise cannot_write(path, error) from error
        self.offset = os.fstat(self._file).st_size

    @property
    def is_anew(self) -> bool:
        """Whether a whole new copy is being made beside the old one."""
        return self._written != self._path

    def digest_before(self) -> str:
        """SHA-256 of the last bytes of the copy, at most DIGEST_BYTES, in hexadecimal."""
        start = max(0, self.offset - DIGEST_BYTES)
        return hashlib.sha256(os.pread(self._file, self.offset - start, start)).hexdigest()

    def append(self, offset: int, data: bytes) -> None:
        """Takes `data`, which stands in the log there from `offset` on.

        Raises:
            RemoteError: it does not continue the copy; nothing is taken.
            SaveError: the disk did not take all of it; what it took is counted in `offset`.
        """
        if offset != self.offset:
            raise RemoteError(
                "The received part of the run log does not continue the local log.",
                key="cut",
                is_passing=True,
                where=str(self._path),
                received=f"bytes from {offset:,} on",
                expected=f"bytes from {self.offset:,} on",
            )
        rest = memoryview(data)
        try:
            while rest:
                count = os.pwrite(self._file, rest, self.offset)
                self.offset += count
                rest = rest[count:]
        except OSError as error:
            raise cannot_write(self._path, error) from error

    def line_under_way(self) -> bytes:
        """What stands behind the last line end: the start of a line still to come."""
        end, found = self.offset, b""
        while end:
            start = max(0, end - DIGEST_BYTES)
            block = os.pread(self._file, end - start, start)
            cut = block.rfind(b"\n") + 1
            found = block[cut:] + found
            if cut:
                break
            end = start
        return found

    def begin_anew(self) -> None:
        """The log there is not the one that was copied: copies it from its start into a file
        beside, while the old copy stays readable. Raises SaveError.
        """
        written = self._path.with_name(self._path.name + _ANEW_SUFFIX)
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
            file = os.open(written, flags, 0o644)
        except OSError as error:
            raise cannot_write(written, error) from error
        os.close(self._file)
        self._file, self._written, self.offset = file, written, 0

    def finish_anew(self) -> None:
        """The new copy takes the old one's place; raises SaveError."""
        if not self.is_anew:
            return
        try:
            os.fsync(self._file)
            self._written.replace(self._path)
        except OSError as error:
            raise cannot_write(self._path, error) from error
        self._written = self._path

    def secure(self) -> None:
        """Waits until the disk has all of the copy; raises SaveError."""
        what = "The disk did not confirm the copy of the run's log."
        with os_errors_as(SaveError, what, self._path):
            os.fsync(self._file)

    def close(self) -> None:
        """Closes the file; a new copy that was not finished is removed."""
        os.close(self._file)
        if self.is_anew:
            with contextlib.suppress(OSError):
                self._written.unlink()
