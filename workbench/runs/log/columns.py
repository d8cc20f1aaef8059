"""Growing arrays side by side: a million values in as many bytes as their types need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

Column: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class GrowingColumns:
    """Equal-length columns that double their room when full: appending a million is cheap.

    Args:
        dtypes: NumPy type of each column, by name.
        room: Rows at first; memory that no value has reached is not touched, so not provided.
    """

    def __init__(self, dtypes: Mapping[str, type], room: int) -> None:
        self._room = room
        self._columns: dict[str, Column] = {
            name: np.empty(room, dtype) for name, dtype in dtypes.items()
        }
        self.size = 0

    def append(self, pieces: Mapping[str, Iterable[Any]]) -> None:
        """Adds a piece to each column; all pieces have the same length. None becomes NaN."""
        columns = self._columns.items()
        with np.errstate(over="ignore"):  # of a log from elsewhere: beyond float32 is infinite
            arrays = {name: np.asarray(pieces[name], column.dtype) for name, column in columns}
        end = self.size + len(next(iter(arrays.values())))
        for name, piece in arrays.items():
            if end > len(self._columns[name]):
                self._grow(name, max(end, 2 * self.size))
            self._columns[name][self.size : end] = piece
        self.size = end

    def _grow(self, name: str, room: int) -> None:
        # One column after the other, so that only one of them is there twice at a time.
        column = self._columns[name]
        grown = self._columns[name] = np.empty(room, column.dtype)
        grown[: self.size] = column[: self.size]

    def cut(self, size: int) -> None:
        """Keeps `size` values; the rest moves to new arrays: what is drawn keeps its values."""
        if size >= self.size:
            return
        self.size = size
        for name, column in self._columns.items():
            room = np.empty(self._room, column.dtype)
            self._columns[name] = np.concatenate([column[:size], room])

    def view(self, name: str) -> Column:
        """The filled part of a column, read-only, without a copy."""
        view = self._columns[name][: self.size]
        view.flags.writeable = False
        return view
