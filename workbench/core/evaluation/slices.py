"""Accuracy on slices of the evaluated images: those of one range of values, or of one group.

Images are numbers in the columns of an evaluation. A slice is only as good as its number of images:
each has the interval of its accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.evaluation.intervals import wilson_interval

MOST_RANGES = 5
"""Ranges of values: more of them are too small in a test set of a few hundred images."""

FEW = 30
"""Fewer images are few: at an accuracy of one half the interval is wider than 34 points."""

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Marks = np.ndarray[Any, np.dtype[np.bool_]]
Values = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Slice:
    """A subset of the evaluated images with something in common.

    Attributes:
        name: What they have in common.
        numbers: Which images, (n,), at least one.
        right: How many of them are classified right.
    """

    name: str
    numbers: Numbers
    right: int

    @property
    def count(self) -> int:
        """How many images it has."""
        return len(self.numbers)

    @property
    def accuracy(self) -> float:
        """The share that is classified right, 0..1."""
        return self.right / self.count

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the accuracy, by Wilson."""
        return wilson_interval(self.right, self.count)

    @property
    def has_few(self) -> bool:
        """Whether it has too few images to say much."""
        return self.count < FEW


def worst_first(slices: Iterable[Slice]) -> list[Slice]:
    """The lowest accuracy first; of equal ones that of most images, then by name."""
    return sorted(slices, key=lambda each: (each.accuracy, -each.count, each.name))


def in_ranges(
    values: Values, is_right: Marks, name_of: Callable[[float, float], str]
) -> list[Slice]:
    """Slices by a value: one for each where there are few values, else ranges of about as many
    images each, lowest first.

    Args:
        values: (n,), finite.
        is_right: Which images are classified right, (n,).
        name_of: The name of a range by its least and its greatest value.
    """
    distinct = np.unique(values)
    if len(distinct) <= MOST_RANGES:
        starts = distinct[1:]
    else:
        shares = np.arange(1, MOST_RANGES) / MOST_RANGES
        starts = np.unique(np.quantile(values, shares, method="higher"))
    groups = np.searchsorted(starts, values, side="right")
    found = []
    for group in np.unique(groups):
        numbers = np.flatnonzero(groups == group)
        least, greatest = values[numbers].min(), values[numbers].max()
        found.append(_slice(name_of(float(least), float(greatest)), numbers, is_right))
    return found


def in_groups(
    groups: Values, is_right: Marks, names: Mapping[int, str] | Sequence[str]
) -> list[Slice]:
    """Slices by the number of a group, (n,): those that have images, each with its name."""
    order = np.argsort(groups, kind="stable")
    found, starts = np.unique(groups[order], return_index=True)
    pieces = np.split(order, starts[1:])
    return [
        _slice(names[int(group)], numbers, is_right)
        for group, numbers in zip(found, pieces, strict=False)  # without images: one empty piece
    ]


def _slice(name: str, numbers: Numbers, is_right: Marks) -> Slice:
    return Slice(name, numbers, int(is_right[numbers].sum()))
