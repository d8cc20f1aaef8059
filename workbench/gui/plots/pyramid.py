"""Lowest and highest values of ever larger groups: a curve of any length is drawn from a
few thousand numbers, and no peak is lost. Plain NumPy.

pyqtgraph's own downsampling goes through all values for each drawing, takes x values for evenly
spaced, and draws nothing of a group with one NaN in it; `packaging/bench.sh plots` prints both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[Any]]
Positions = np.ndarray[Any, np.dtype[np.int64]]

FACTOR = 8


class _Level:
    """A growing row of lows above one of highs; the last group may still be filling."""

    def __init__(self, dtype: Any) -> None:
        self._ends = np.empty((2, 64), dtype)
        self._count = 0

    def write(self, first: int, low: Values, high: Values) -> None:
        """Sets the groups from `first` on and drops those behind them."""
        end, room = first + len(low), self._ends.shape[1]
        if end > room:
            grown = np.empty((2, max(end, 2 * room)), self._ends.dtype)
            grown[:, : self._count] = self.ends
            self._ends = grown
        self._ends[:, first:end] = low, high
        self._count = end

    @property
    def ends(self) -> Values:
        """Lows and highs, shape (2, groups)."""
        return self._ends[:, : self._count]


def _fold(lows: Values, highs: Values, group: int) -> tuple[Values, Values]:
    """Lows and highs of each `group` neighbors (the last group may be smaller)."""
    if group == 1 or len(lows) == 0:
        return lows, highs
    starts = np.arange(0, len(lows), group)
    return np.fmin.reduceat(lows, starts), np.fmax.reduceat(highs, starts)


class PeakPyramid:
    """Lows and highs over groups of 8, 64, 512, ... values of a growing series.

    NaN is passed over; a group of nothing but NaN is NaN. Levels are of the values' type.
    """

    def __init__(self) -> None:
        self._levels: list[_Level] = []
        self.count = 0

    def extend(self, values: Values) -> None:
        """Takes in what `values` has more than at the last call (it only ever grows)."""
        old, self.count = self.count, len(values)
        if self.count == old:
            return
        lows, highs, changed = values, values, old
        depth = 0
        while len(lows) > FACTOR:
            if depth == len(self._levels):
                self._levels.append(_Level(values.dtype))
                changed = 0
            level = self._levels[depth]
            first = changed // FACTOR
            level.write(first, *_fold(lows[first * FACTOR :], highs[first * FACTOR :], FACTOR))
            (lows, highs), changed = level.ends, first
            depth += 1

    def window(
        self, values: Values, start: int, stop: int, columns: int
    ) -> tuple[Positions, Values]:
        """What to draw of values[start:stop] on `columns` pixel columns.

        Groups start at multiples of their own size, so they don't jump while panning.

        Returns:
            Positions in `values` (rising, each twice where grouped) and the values there:
            low, high, low, high, ... At most about 2 * columns + 4 of them.
        """
        start, stop = max(0, start), min(stop, self.count)
        if stop - start <= 2 * columns:
            return np.arange(start, max(start, stop)), values[start:stop]
        size = -(-(stop - start) // columns)
        depth = min(len(self._levels), int(np.log(size) / np.log(FACTOR) + 1e-9))
        unit = FACTOR**depth
        group = -(-size // unit)
        first, last = start // (unit * group), -(-stop // (unit * group))
        here = slice(first * group, last * group)
        all_lows, all_highs = self._levels[depth - 1].ends if depth else (values, values)
        lows, highs = _fold(all_lows[here], all_highs[here], group)
        middles = (np.arange(first, first + len(lows)) * 2 + 1) * (unit * group) // 2
        pairs = np.empty(2 * len(lows), lows.dtype)
        pairs[0::2], pairs[1::2] = lows, highs
        return np.repeat(np.minimum(middles, self.count - 1), 2), pairs
