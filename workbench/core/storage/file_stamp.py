"""What a file held when it was last read or written, and a save that replaces only just that.

A stamp compares by content: a file that was touched, or copied back, has not changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from workbench.core.storage.file_lock import take_lock
from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.own_file import make_own_folder
from workbench.errors import FileChangedError, LinkFoundError, SaveError

_WAIT_S = 10.0
"""Longest wait for another window's lock, which is held for a comparison and a rename only."""


@dataclass(frozen=True)
class FileStamp:
    """The content of a file in short.

    Attributes:
        digest: sha256 of the content, hexadecimal.
        size: Length in bytes.
        modified_at: When the file was written, in seconds since the epoch; not compared.
    """

    digest: str
    size: int
    modified_at: float = field(compare=False)

    @classmethod
    def of_bytes(cls, data: bytes) -> FileStamp:
        """The stamp of a content that is read or written now."""
        return cls(hashlib.sha256(data).hexdigest(), len(data), time.time())


def read_stamp(path: Path) -> FileStamp | None:
    """The stamp of the file at `path`; None when there is none.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    try:
        opened = open_foreign(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with opened as file:
        info = os.fstat(file.fileno())
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return FileStamp(digest, info.st_size, info.st_mtime)


def path_key(path: Path) -> str:
    """A name for a file, the same on every way to it through links: for locks."""
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]


class OnlyOver(contextlib.AbstractContextManager["OnlyOver"]):
    """Around the rename of a save: the file holds what is expected, and no other window of this
    user replaces it in between. The lock file stays, empty: what blocks is a living process
    that holds the lock, never a leftover.

    Args:
        path: The file that is replaced.
        expected: Contents that may be replaced; None for any. A file that is gone is written.
        locks: Folder of the lock files.

    Attributes:
        found: What the file held.

    Raises:
        FileChangedError: on entering: the file holds something else.
        SaveError: on entering: another window is saving all the time.
    """

    def __init__(self, path: Path, expected: Collection[FileStamp] | None, locks: Path) -> None:
        self._path = path
        self._expected = expected
        self._locks = locks
        self._lock: int | None = None
        self.found: FileStamp | None = None

    def __enter__(self) -> Self:
        self._take_lock()
        try:
            self._compare()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release()

    def _take_lock(self) -> None:
        """A state folder that cannot be written, or is behind a link, leaves the comparison alone
        to protect.
        """
        with contextlib.suppress(OSError, LinkFoundError):
            make_own_folder(self._locks, parents=True)
            path = self._locks / f"{path_key(self._path)}.save"
            self._lock = take_lock(path, wait_s=_WAIT_S)
            if self._lock is None:
                raise SaveError(
                    f"“{self._path.name}” was not saved: another window is saving it.",
                    where=str(self._path.parent),
                    fix="Save again.",
                )

    def _compare(self) -> None:
        if self._expected is None:
            return
        self.found = read_stamp(self._path)
        if self.found is not None and self.found not in self._expected:
            raise FileChangedError(
                f"“{self._path.name}” was not saved: another program has changed it.",
                where=str(self._path.parent),
                fix="Reload it, or save in another file.",
            )

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
