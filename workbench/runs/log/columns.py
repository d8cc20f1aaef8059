"""Growing arrays side by side: a million values in as many bytes as their types need."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

_FIRST_CAPACITY = 1_024

Column = np.ndarray[Any, np.dtype[Any]]


class GrowingColumns:
    """Equal-length columns that double their room when full: appending a million is cheap.

    Args:
        dtypes: NumPy type of each column. Memory that no value has reached yet is not
            touched, so the operating system need not provide it.
    """

    def __init__(self, *dtypes: type) -> None:
        self._columns: list[Column] = [np.empty(_FIRST_CAPACITY, dtype) for dtype in dtypes]
        self.size = 0

    def append(self, *values: Iterable[Any]) -> None:
        """Adds a piece to each column; all pieces have the same length. None becomes NaN."""
        pieces = [np.asarray(v, c.dtype) for v, c in zip(values, self._columns, strict=True)]
        end = self.size + len(pieces[0])
        if end > len(self._columns[0]):
            self._grow(max(end, 2 * len(self._columns[0])))
        for column, piece in zip(self._columns, pieces, strict=True):
            column[self.size : end] = piece
        self.size = end

    def _grow(self, room: int) -> None:
        # One column after the other, so that only one of them is there twice at a time.
        for index, column in enumerate(self._columns):
            grown = np.empty(room, column.dtype)
            grown[: self.size] = column[: self.size]
            self._columns[index] = grown

    def cut(self, size: int) -> None:
        """Forgets all behind the first `size` values.

        The rest moves to new arrays: what somebody still draws keeps its values.
        """
        if size >= self.size:
            return
        self.size = size
        self._columns = [
            np.concatenate([c[:size], np.empty(_FIRST_CAPACITY, c.dtype)]) for c in self._columns
        ]

    def view(self, index: int) -> Column:
        """The filled part of a column, read-only, without a copy."""
        view = self._columns[index][: self.size]
        view.flags.writeable = False
        return view
