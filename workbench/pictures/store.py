"""Decoded pictures on disk: one .npy file that appears when it is complete.

Rows are written one after another with plain writes: a full disk is then an error in
words, where writing into a memory map would kill the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import Shape
from workbench.core.storage.foreign_file import open_foreign, read_foreign
from workbench.core.storage.own_file import make_private, refuse_link, replace_own
from workbench.errors import DatasetError, LinkFoundError
from workbench.pictures.rows import UINT8, StoredRows

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
BadRows = dict[int, str]
"""Row number -> reason in words of a picture that could not be read; its row is black."""

KEEP_BYTES = 20 * 10**9
"""The cache of prepared pictures: the longest unused go when there is more than this."""

SPARE_BYTES = 500 * 10**6
"""Left free on the disk beside prepared pictures: runs and checkpoints need room too."""

LEFTOVER_AGE_S = 86_400.0
"""Temporary files older than this belong to no running process."""

_TEMPORARY = ".preparing-"
_SIDE_SUFFIX = ".json"
KEYS_SUFFIX = ".keys"
"""End of the name of the file with the keys of rows that are found by content."""


def open_rows(path: Path, count: int, shape: Shape) -> tuple[StoredRows, BadRows] | None:
    """The rows stored at `path`, to be read by number; None when absent, damaged or of
    another form.
    """
    try:
        start = rows_start(path, (count, *shape))
        bad = read_checked(_side_file(path))
        os.utime(path, follow_symlinks=False)  # used just now: pruning takes others first
        rows = StoredRows(path, shape, start, np.arange(count))
    except (OSError, ValueError, EOFError):
        return None
    return None if bad is None else (rows, bad)


def rows_start(path: Path, shape: Shape, dtype: np.dtype[Any] = UINT8) -> int:
    """Offset of the rows in a .npy file, in bytes; raises ValueError when they are not what is
    expected: `shape` is that of all rows.
    """
    with open_foreign(path) as file:
        np.lib.format.read_magic(file)
        header = np.lib.format.read_array_header_1_0(file)
        start = file.tell()
        size = file.seek(0, os.SEEK_END)
    if header != (shape, False, dtype):
        raise ValueError("other rows")
    if size != start + int(np.prod(shape, dtype=np.int64)) * dtype.itemsize:
        raise ValueError("cut off")
    return start


def write_rows(path: Path, rows: Iterable[Pixels | str], count: int, shape: Shape) -> None:
    """Stores `count` rows, each pixels of `shape` or the reason why there are none.

    Whatever `rows` raises leaves no file behind.

    Raises:
        DatasetError: the file could not be written (for example, the disk is full).
        LinkFoundError: a link has its name.
    """
    black = bytes(int(np.prod(shape)))
    bad: BadRows = {}
    temporary: Path | None = None
    try:
        make_private(path.parent)
        remove_leftovers(path.parent, _TEMPORARY)
        handle, name = tempfile.mkstemp(prefix=_TEMPORARY, suffix=".npy", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb", buffering=1 << 20) as file:
            _write_header(file, (count, *shape))
            for number, row in enumerate(rows):
                if isinstance(row, str):
                    bad[number] = row
                file.write(black if isinstance(row, str) else row.tobytes())
        replace_own(_side_file(path), json.dumps(bad).encode())
        refuse_link(path)
        temporary.replace(path)
    except OSError as error:
        raise DatasetError(
            f"The prepared images could not be stored: {error.strerror}.",
            where=str(path.parent),
            expected=f"{count * len(black):,} bytes of free space",
            fix="Free some space, or set WORKBENCH_HOME to a folder on another disk.",
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def prune(folder: Path, keep_bytes: int = KEEP_BYTES) -> None:
    """Removes the longest unused files beyond `keep_bytes`, but never the newest.

    Open rows of removed files stay readable.
    """
    total = 0
    for number, (_, size, path) in enumerate(_by_last_use(folder)):
        total += size
        if number and total > keep_bytes:
            _remove(path)


def has_room(folder: Path, needed: int) -> bool:
    """Whether `needed` bytes, and a little to work with, fit on the folder's disk; older
    pictures that were not used for a day make way.
    """
    make_private(folder)
    oldest_first = reversed(_by_last_use(folder))
    while shutil.disk_usage(folder).free < needed + SPARE_BYTES:
        oldest = next(oldest_first, None)
        if oldest is None or time.time() - oldest[0] < LEFTOVER_AGE_S:
            return False
        _remove(oldest[2])
    return True


def _remove(path: Path) -> None:
    """Removes rows with the file beside them that describes them."""
    path.unlink(missing_ok=True)
    for suffix in (_SIDE_SUFFIX, KEYS_SUFFIX):
        path.with_suffix(suffix).unlink(missing_ok=True)


def _by_last_use(folder: Path) -> list[tuple[float, int, Path]]:
    """(time of use, bytes, file) of the stored pictures, the last used first."""
    files = []
    for path in folder.glob("*.npy"):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue  # another process pruned it
        files.append((status.st_mtime, status.st_size, path))
    return sorted(files, reverse=True)


def remove_leftovers(folder: Path, prefix: str) -> None:
    """Removes temporary files and folders that a killed process left more than a day ago."""
    for path in folder.glob(f"{prefix}*"):
        try:
            is_old = time.time() - path.stat().st_mtime > LEFTOVER_AGE_S
        except FileNotFoundError:
            continue  # its owner has just finished it
        if is_old and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif is_old:
            path.unlink(missing_ok=True)


_MAX_CHECKED_BYTES = 256 * 1024 * 1024


def read_checked(path: Path) -> BadRows | None:
    """Which pictures an earlier check found unreadable; None when there was no such check."""
    try:
        found = json.loads(read_foreign(path, _MAX_CHECKED_BYTES))
        return {int(k): str(v) for k, v in found.items()}
    except (OSError, ValueError, AttributeError):
        return None


def write_checked(path: Path, bad: BadRows) -> None:
    """Stores which pictures are unreadable; where the disk is full, or a link has the file's
    name, the next run checks once more.
    """
    with contextlib.suppress(OSError, LinkFoundError):
        make_private(path.parent)
        replace_own(path, json.dumps(bad).encode())


def _side_file(path: Path) -> Path:
    return path.with_suffix(_SIDE_SUFFIX)


def _write_header(file: Any, shape: Shape) -> None:
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
