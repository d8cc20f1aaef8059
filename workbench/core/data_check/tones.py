"""How dark and how bright images are, and how many tones they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Column = np.ndarray[Any, np.dtype[np.int64]]

_FEW = 0.001
"""Share of the pixels of a channel that are passed over at either end: dust, hot pixels."""


@dataclass(frozen=True)
class Tones:
    """Tones of 0 to 255 of some images, in columns of int64 (n,).

    Attributes:
        dark, bright: The darkest and the brightest tone of any channel, but for one pixel in a
            thousand.
        levels: Different tones in the channel that has most of them.
        cut: Values beyond the value range, per mille.
    """

    dark: Column
    bright: Column
    levels: Column
    cut: Column

    @classmethod
    def empty(cls, count: int) -> Tones:
        """Room for some images."""
        return cls(*(np.zeros(count, np.int64) for _ in range(4)))

    @classmethod
    def joined(cls, several: Sequence[Tones]) -> Tones:
        """Concatenates several."""
        columns = zip(*(each.columns for each in several), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in the order of the attributes."""
        return self.dark, self.bright, self.levels, self.cut

    def __getitem__(self, rows: Any) -> Tones:
        return Tones(*(column[rows] for column in self.columns))

    def put(self, row: int, values: tuple[int, int, int, int]) -> None:
        """Sets the values of one image."""
        for column, value in zip(self.columns, values, strict=True):
            column[row] = value


def tones_of(counts: np.ndarray[Any, np.dtype[np.int64]]) -> tuple[int, int, int]:
    """Darkest and brightest tone, and number of tones, of the counts of each tone in each channel,
    (channels, 256).
    """
    sums = counts.cumsum(axis=1)
    few = _FEW * sums[:, -1:]
    dark = (sums > few).argmax(axis=1).min()
    bright = (sums >= sums[:, -1:] - few).argmax(axis=1).max()
    return int(dark), int(bright), int((counts > 0).sum(axis=1).max())
