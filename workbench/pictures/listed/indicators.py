"""Columns of yes and no that belong together: one-hot labels, columns named train and test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from workbench.pictures.listed.column import Column
from workbench.pictures.listed.names import LABEL_RANKS, WEAK_RANK, is_yes, squeezed

_WINDOW = 300  # columns of zeros and ones among which one-hot columns are looked for
_LINES = 2000  # by which they are found
_MOST_ONES = 0.5  # of the lines with a 1 in one of them, at least: the others are not labeled

Marks = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
"""int64 (columns, lines): 1 where a column says yes."""


def one_hot(columns: Sequence[Column]) -> list[list[Column]]:
    """Rows of neighboring columns of yes and no of which each line has one yes: those named after a
    label first (animal_cat, animal_dog), then the longest.
    """
    runs: list[list[Column]] = [[]]
    for each in columns:
        is_one = each.is_indicator and not each.is_named_split
        if is_one and (not runs[-1] or runs[-1][-1].is_binary == each.is_binary):
            runs[-1].append(each)
        else:
            runs.append([each] if is_one else [])
    found = [group for run in runs for group in _exclusive(run[:_WINDOW])]
    return sorted(found, key=lambda group: (not prefix_of_label(group), -len(group)))


def _exclusive(run: Sequence[Column]) -> list[list[Column]]:
    """The longest part of a row of columns that sums to one in each line, and those beside it; the
    whole row may sum to none in some.
    """
    if len(run) < 2:
        return []
    ones = _marks(run, max(1, len(run[0].cells) // _LINES))
    if ones.sum(axis=0).max(initial=0) == 1 and ones.sum() >= _MOST_ONES * ones.shape[1]:
        return [list(run)]
    sums = np.concatenate([np.zeros((1, ones.shape[1]), np.int64), ones.cumsum(axis=0)])
    return [list(run[start:end]) for start, end in _groups(sums, 0, len(run))]


def _groups(sums: Marks, first: int, last: int) -> list[tuple[int, int]]:
    """First and last (exclusive) columns of the groups, by the sums of the columns before each."""
    for size in range(last - first, 1, -1):
        for start in range(first, last - size + 1):
            if ((sums[start + size] - sums[start]) == 1).all():
                before = _groups(sums, first, start)
                return [*before, (start, start + size), *_groups(sums, start + size, last)]
    return []


def without_classes(columns: Sequence[Column], groups: Sequence[Sequence[Column]]) -> list[Column]:
    """The columns without those that are one class of one-hot labels, though their names ("bird",
    "food") are those of labels, too. Of two columns, one named "label" is the label.
    """
    classes = {e.number for group in groups for e in group if len(group) > 2 or e.label_rank}
    return [each for each in columns if each.number not in classes]


def has_several(columns: Sequence[Column]) -> bool:
    """Whether a line has yes in several of the columns."""
    return bool(columns) and int(_marks(columns).sum(axis=0).max(initial=0)) > 1


def _marks(columns: Sequence[Column], step: int = 1) -> Marks:
    cells = [each.cells[::step] for each in columns]
    return np.array([[is_yes(cell) for cell in each] for each in cells], np.int64)


def prefix_of_label(columns: Sequence[Column]) -> str:
    """What the names of all columns begin with where it means a label ("animal_" of animal_cat,
    animal_dog), as pandas names them; "" for none.
    """
    prefix = columns[0].name.partition("_")[0] + "_"
    is_label = LABEL_RANKS.get(squeezed(prefix), WEAK_RANK) < WEAK_RANK
    is_shared = all(each.name.startswith(prefix) and each.name != prefix for each in columns)
    return prefix if is_label and is_shared else ""


def part_columns(columns: Sequence[Column]) -> tuple[tuple[int, str], ...]:
    """Places of columns named after two parts or more, with the parts, of which each line is marked
    in one; none where there are no such columns. Without a column for training its lines, which
    are most, have no mark.
    """
    marked = [each for each in columns if each.part and (each.is_flag or len(each.values) == 1)]
    parts = [each.part for each in marked]
    if len(set(parts)) < max(2, len(parts)):
        return ()
    cells = zip(*(each.cells for each in marked), strict=True)
    counts = Counter(sum(map(is_mark, line)) for line in cells)
    is_whole = counts.keys() == {1} if "train" in parts else counts[0] > counts[1]
    is_single = counts.keys() <= {0, 1}
    return tuple((each.number, each.part) for each in marked) if is_whole and is_single else ()


def is_mark(cell: str) -> bool:
    """Whether a cell of a column that is named after a part says that the line belongs to it."""
    return is_yes(cell, other=bool(cell))
