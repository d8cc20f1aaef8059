"""Pictures of one shape that are not held in memory: read by number from a file.

A memory map would be shorter, but what it reads counts as this process's own memory; plain
reads leave the pages to the system's cache, so memory stays constant however many pictures
there are.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from workbench.core.specs import Shape
from workbench.core.storage.foreign_file import open_foreign, read_foreign
from workbench.core.storage.own_file import make_private, refuse_link, replace_own
from workbench.errors import DatasetError, LinkFoundError

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Values = np.ndarray[Any, np.dtype[Any]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]

UINT8: np.dtype[Any] = np.dtype(np.uint8)
"""Type of the numbers of a picture."""

_AT_ONCE = 64 * 2**20
"""Most bytes in one read."""


class Rows(Protocol):
    """What rows of pictures, or of features of them, can do, be they an array, on disk, or still
    in files.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """(pictures, height, width, channels)."""

    @property
    def nbytes(self) -> int:
        """Bytes that all of them take in memory."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers: uint8 for pixels."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: Any, /) -> Any:
        """uint8 pixels of one picture, a slice, or an array of numbers or of booleans."""


class ChosenRows:
    """Rows chosen from a larger store, in an order of their own; a subclass fetches them.

    Args:
        shape: Shape of a row.
        chosen: Which rows, and in which order; int64.
        dtype: Type of the numbers in a row.
    """

    def __init__(self, shape: Shape, chosen: Numbers, dtype: np.dtype[Any] = UINT8) -> None:
        self.shape = (len(chosen), *shape)
        self.dtype = dtype
        self._chosen = chosen

    @property
    def nbytes(self) -> int:
        """Bytes that all of them take in memory."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def __len__(self) -> int:
        return len(self._chosen)

    def __getitem__(self, key: Any) -> Values:
        numbers = np.asarray(self._chosen[key])
        if numbers.ndim == 0:
            one: Values = self._fetch(numbers[None])[0]
            return one
        return self._fetch(numbers)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if copy is False:
            raise ValueError("Rows that are not in memory cannot become an array uncopied.")
        return self._fetch(self._chosen).astype(dtype or self.dtype, copy=False)

    def pick(self, indices: Numbers) -> Self:
        """The rows at these indices, without reading any."""
        raise NotImplementedError  # each kind of rows has its own way

    def _fetch(self, numbers: Numbers) -> Values:
        raise NotImplementedError


class StoredRows(ChosenRows):
    """Rows of a .npy file, read by number; any thread may read.

    Args:
        path: The file. It stays readable when its name is removed.
        shape: (height, width, channels) of a row.
        start: Where the first row begins, in bytes.
        chosen: Which rows, and in which order; int64.
        dtype: Type of the numbers in a row.
    """

    def __init__(
        self,
        path: Path,
        shape: Shape,
        start: int,
        chosen: Numbers,
        file: _OpenFile | None = None,
        *,
        dtype: np.dtype[Any] = UINT8,
    ) -> None:
        super().__init__(shape, chosen, dtype)
        self.path = path
        self._start = start
        self._file = file or _OpenFile(path)

    def pick(self, indices: Numbers) -> Self:
        """The rows at these indices, of the same open file."""
        shape, chosen = self.shape[1:], self._chosen[indices]
        return type(self)(self.path, shape, self._start, chosen, self._file, dtype=self.dtype)

    def _fetch(self, numbers: Numbers) -> Values:
        values = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        size = int(np.prod(self.shape[1:])) * self.dtype.itemsize
        flat = values.reshape(-1).view(np.uint8).data
        for at, first, count in _runs(numbers, max(1, _AT_ONCE // size)):
            target = flat[at * size : (at + count) * size]
            self._file.read_into(target, self._start + first * size)
        return values


class JoinedRows(ChosenRows):
    """Rows chosen from several arrays of one shape, numbered through all of them, not copied.

    Args:
        arrays: uint8 (n, height, width, channels) each, at least one.
        chosen: Which rows, and in which order; int64.
    """

    def __init__(self, arrays: Sequence[Rows], chosen: Numbers) -> None:
        super().__init__(arrays[0].shape[1:], chosen)
        self._arrays = arrays
        self._ends = np.cumsum([len(array) for array in arrays])

    def pick(self, indices: Numbers) -> Self:
        """The rows at these indices, of the same arrays."""
        return type(self)(self._arrays, self._chosen[indices])

    def _fetch(self, numbers: Numbers) -> Pixels:
        pixels = np.empty((len(numbers), *self.shape[1:]), np.uint8)
        of_array = np.searchsorted(self._ends, numbers, side="right")
        for number in np.unique(of_array):
            array, places = self._arrays[number], np.flatnonzero(of_array == number)
            pixels[places] = array[numbers[places] - (self._ends[number] - len(array))]
        return pixels


def _runs(numbers: Numbers, most: int) -> Iterator[tuple[int, int, int]]:
    """(place in numbers, first row, count) of rows that follow each other, `most` at once."""
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    edges = [0, *breaks.tolist(), len(numbers)]
    for begin, end in pairwise(edges):
        for at in range(begin, end, most):
            yield at, int(numbers[at]), min(most, end - at)


class _OpenFile:
    """An open file that several threads read at places of their own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = open_foreign(path).detach()
        self._lock = threading.Lock()
        # Open as long as some rows are: who takes them need not close them.
        weakref.finalize(self, self._file.close)

    def read_into(self, target: memoryview, offset: int) -> None:
        """Fills `target`; raises DatasetError when the file cannot be read that far."""
        while len(target):
            try:
                count = self._read_some(target, offset)
            except OSError as error:
                raise self._unreadable(str(error.strerror)) from error
            if not count:
                raise self._unreadable("it became shorter")
            target, offset = target[count:], offset + count

    def _read_some(self, target: memoryview, offset: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [target], offset)
        with self._lock:  # where a read has no place of its own: one at a time
            self._file.seek(offset)
            return self._file.readinto(target) or 0

    def _unreadable(self, cause: str) -> DatasetError:
        return DatasetError(
            f"The prepared images can no longer be read: {cause}.",
            where=str(self._path),
            fix="Start again: damaged images are prepared again.",
        )


def pick_rows(rows: Rows, indices: Numbers) -> Rows:
    """The rows at these indices: unread where they are not in memory, copied where they are."""
    if isinstance(rows, ChosenRows):
        return rows.pick(indices)
    picked: Pixels = np.asarray(rows[indices])
    return picked


# store ---------------------------------------------------------------------------------------
# Decoded pictures on disk: one .npy file that appears when it is complete.
#
# Rows are written one after another with plain writes: a full disk is then an error in
# words, where writing into a memory map would kill the process.

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
