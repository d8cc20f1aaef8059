"""The copy of a log that another computer writes: always the first bytes of the one there.

What arrives carries its place. Only what continues the copy is taken, so that no cut of the
line, wherever it falls, loses or doubles a byte.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from workbench.core.storage.own_file import open_own
from workbench.errors import RemoteError, SaveError, os_errors_as
from workbench.runs.log.append_file import writing

DIGEST_BYTES = 64 * 1024
"""How much before the end of the copy is held against the log there at each connection."""

MOST_BYTES = 4 * 1024**3
"""The largest log that is copied."""

_RESTART_SUFFIX = ".anew"


class LogMirror:
    """The local copy of a log, made where there is none (SaveError); only one process may write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written = path
        with writing(path):
            self._file = open_own(path, os.O_RDWR | os.O_CREAT)
        self.offset = os.fstat(self._file).st_size

    @property
    def is_restarted(self) -> bool:
        """Whether a whole new copy is being made beside the old one."""
        return self._written != self._path

    def digest_before(self) -> str:
        """SHA-256 of the last bytes of the copy, at most DIGEST_BYTES, in hexadecimal."""
        start = max(0, self.offset - DIGEST_BYTES)
        return hashlib.sha256(os.pread(self._file, self.offset - start, start)).hexdigest()

    def append(self, offset: int, data: bytes) -> None:
        """Appends `data`, which begins at `offset` in the log there.

        Raises:
            RemoteError: it does not continue the copy, or is too large; nothing is written.
            SaveError: not all of it could be written; `offset` counts what was.
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
        if self.offset + len(data) > MOST_BYTES:
            raise RemoteError(
                "The run's log on the other computer is too large.",
                key="log_size",
                where=str(self._path),
                received=f"more than {self.offset:,} bytes",
                expected=f"at most {MOST_BYTES:,} bytes",
                fix="Nothing more of it is copied. Stop the run there and train it again; look at "
                "what fills its log.",
            )
        rest = memoryview(data)
        with writing(self._path):
            while rest:
                count = os.pwrite(self._file, rest, self.offset)
                self.offset += count
                rest = rest[count:]

    def line_under_way(self) -> bytes:
        """The bytes behind the last line end: the start of a line still to come."""
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

    def restart(self) -> None:
        """The log there is not the one that was copied: copies it from its start into a file
        beside, while the old copy stays readable. Raises SaveError.
        """
        written = self._path.with_name(self._path.name + _RESTART_SUFFIX)
        with writing(written):
            file = open_own(written, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.close(self._file)
        self._file, self._written, self.offset = file, written, 0

    def finish_restart(self) -> None:
        """Replaces the old copy by the new one; raises SaveError."""
        if not self.is_restarted:
            return
        with writing(self._path):
            os.fsync(self._file)
            self._written.replace(self._path)
        self._written = self._path

    def secure(self) -> None:
        """Waits until the disk has all of the copy; raises SaveError."""
        what = "The disk did not confirm the copy of the run's log."
        with os_errors_as(SaveError, what, self._path):
            os.fsync(self._file)

    def close(self) -> None:
        """Closes the file; a new copy that was not finished is removed."""
        os.close(self._file)
        if self.is_restarted:
            with contextlib.suppress(OSError):
                self._written.unlink()
