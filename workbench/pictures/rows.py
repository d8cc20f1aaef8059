"""Pictures of one shape that are not held in memory: read by number from a file.

A memory map would be shorter, but what it reads counts as this process's own memory; plain
reads leave the pages to the system's cache, so memory stays constant however many pictures
there are.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from workbench.core.specs import Shape
from workbench.core.storage.foreign_file import open_foreign
from workbench.errors import DatasetError

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
