"""Features on disk, each found by a key of what it was computed from.

Each computation adds a segment, which is never changed: NAME-NUMBER.npy with the rows, and beside
it NAME-NUMBER.keys with their keys one after another. So several programs may add at one time, and
a killed one leaves nothing half written. The folder is a cache: it may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from workbench.core.specs import Shape
from workbench.core.storage.foreign_file import read_foreign
from workbench.core.storage.own_file import refuse_link
from workbench.errors import DatasetError
from workbench.pictures.rows import ChosenRows, Numbers, StoredRows, Values
from workbench.pictures.store import (
    KEYS_SUFFIX,
    has_room,
    prune,
    remove_leftovers,
    rows_start,
)
from workbench.worker.input.cache_mode import memory_for_pictures

KEY_BYTES = 16
_MAX_KEYS_BYTES = 1 << 30
_TEMPORARY = ".computing-"

Key = bytes
"""What a row was computed from, in 16 bytes."""


class FeatureRows(ChosenRows):
    """Rows that lie in several segments.

    Args:
        segments: All of one shape and type.
        places: Segment and row there of each of these rows, int64 (n, 2).
    """

    def __init__(
        self,
        segments: Sequence[StoredRows | Values],
        places: Numbers,
        shape: Shape,
        dtype: np.dtype[Any],
    ) -> None:
        super().__init__(shape, np.arange(len(places)), dtype)
        self._segments = segments
        self._places = places

    def pick(self, indices: Numbers) -> Self:
        """The rows at these indices."""
        chosen = self._places[self._chosen[indices]]
        return type(self)(self._segments, chosen, self.shape[1:], self.dtype)

    def _fetch(self, numbers: Numbers) -> Values:
        values = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        places = self._places[numbers]
        for number in np.unique(places[:, 0]):
            at = np.flatnonzero(places[:, 0] == number)
            # In the order of the file: neighbors are read at once.
            at = at[np.argsort(places[at, 1], kind="stable")]
            values[at] = self._segments[number][places[at, 1]]
        return values


class FeatureStore:
    """The features of one extractor.

    Args:
        folder: Where the segments of all extractors are.
        name: Identifies the extractor: hexadecimal digits.
        shape: Shape of the features of one image.
        dtype: Their type.

    Raises:
        LinkFoundError: the folder is behind a link.
    """

    def __init__(self, folder: Path, name: str, shape: Shape, dtype: np.dtype[Any]) -> None:
        refuse_link(folder)
        self._folder = folder
        self._name = name
        self._shape = shape
        self._dtype = dtype
        self._segments: list[StoredRows | Values] = []
        self._places: dict[Key, tuple[int, int]] = {}
        for path in sorted(folder.glob(f"{name}-*.npy")):
            self._open(path)

    def __contains__(self, key: Key) -> bool:
        return key in self._places

    def add(self, keys: Sequence[Key], values: Values) -> None:
        """Keeps some rows, (n, *shape), as a new segment; where the disk has no room for it, in
        memory.

        Raises:
            DatasetError: there is no room in memory either.
        """
        values = np.ascontiguousarray(values, self._dtype)
        try:
            path = self._write(b"".join(keys), values)
        except OSError as error:
            self._hold(keys, values, error)
            return
        self._open(path)
        prune(self._folder)

    def _hold(self, keys: Sequence[Key], values: Values, error: OSError) -> None:
        """Keeps rows in memory, for this training alone."""
        if values.nbytes > memory_for_pictures():
            raise DatasetError(
                f"The features of the frozen layers could not be stored: {error.strerror}.",
                where=str(self._folder),
                expected=f"{values.nbytes:,} bytes of free space",
                fix="Free some space, or set the feature cache of the training settings to off.",
            ) from error
        self._take(values, keys)

    def _take(self, segment: StoredRows | Values, keys: Iterable[Key]) -> None:
        number = len(self._segments)
        self._segments.append(segment)
        self._places |= {key: (number, row) for row, key in enumerate(keys)}

    def rows(self, keys: Sequence[Key]) -> FeatureRows:
        """The rows of some keys, all of which must be there."""
        places = np.array([self._places[key] for key in keys], np.int64).reshape(-1, 2)
        return FeatureRows(self._segments, places, self._shape, self._dtype)

    def _open(self, path: Path) -> None:
        """Takes a segment in; one that is damaged, or removed meanwhile, is passed over."""
        with contextlib.suppress(OSError, ValueError, EOFError):
            data = read_foreign(path.with_suffix(KEYS_SUFFIX), _MAX_KEYS_BYTES)
            count = len(data) // KEY_BYTES
            start = rows_start(path, (count, *self._shape), self._dtype)
            os.utime(path, follow_symlinks=False)  # used just now: pruning takes others first
            rows = StoredRows(path, self._shape, start, np.arange(count), dtype=self._dtype)
            starts = range(0, count * KEY_BYTES, KEY_BYTES)
            self._take(rows, (data[at : at + KEY_BYTES] for at in starts))

    def _write(self, keys: bytes, values: Values) -> Path:
        if not has_room(self._folder, values.nbytes):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        remove_leftovers(self._folder, _TEMPORARY)
        handle, name = tempfile.mkstemp(prefix=_TEMPORARY, dir=self._folder)
        temporary = Path(name)
        path = self._folder / f"{self._name}-{temporary.name.removeprefix(_TEMPORARY)}.npy"
        try:
            with os.fdopen(handle, "wb") as file:
                np.lib.format.write_array(file, values, version=(1, 0), allow_pickle=False)
            # The keys first: rows without keys would be of no use.
            with path.with_suffix(KEYS_SUFFIX).open("xb") as file:
                file.write(keys)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        return path
