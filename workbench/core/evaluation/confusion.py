"""What a confusion matrix says: shares, the most confused pairs, averages, an order of classes.

A matrix is kept as its cells that are not 0 (`Confusion`): of 10,000 classes all cells are 800 MB.
Dense ones are int64 (classes, classes): rows are actual classes, columns predicted ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

Counts = np.ndarray[Any, np.dtype[np.int64]]
Shares = np.ndarray[Any, np.dtype[np.float64]]
Numbers = np.ndarray[Any, np.dtype[np.intp]]

Per = Literal["actual", "predicted"]


@dataclass(frozen=True)
class ConfusedPair:
    """Images of one class that were predicted as another; classes by their numbers."""

    actual: int
    predicted: int
    count: int


@dataclass(frozen=True)
class Confusion:
    """A confusion matrix by its cells that are not 0, in the order of their rows and columns.

    Attributes:
        size: How many classes there are.
        actual, predicted: Numbers of the classes of each cell, (m,).
        counts: Its images, (m,).
    """

    size: int
    actual: Counts
    predicted: Counts
    counts: Counts

    @classmethod
    def of_images(cls, actual: Counts, predicted: Counts, size: int) -> Confusion:
        """The matrix of images of these classes (n,) that were predicted as those."""
        cells, counts = np.unique(actual.astype(np.int64) * size + predicted, return_counts=True)
        return cls(size, *np.divmod(cells, max(1, size)), counts.astype(np.int64))

    @classmethod
    def of_dense(cls, counts: Counts) -> Confusion:
        """The matrix with these counts (classes, classes)."""
        actual, predicted = np.nonzero(counts)
        return cls(len(counts), actual, predicted, counts[actual, predicted].astype(np.int64))

    @cached_property
    def actual_totals(self) -> Counts:
        """The images of each actual class, (size,)."""
        return self._sums(self.actual, self.counts)

    @cached_property
    def predicted_totals(self) -> Counts:
        """The images predicted as each class, (size,)."""
        return self._sums(self.predicted, self.counts)

    @cached_property
    def right(self) -> Counts:
        """The images of each class that were predicted as it: the diagonal, (size,)."""
        is_right = self.actual == self.predicted
        return self._sums(self.actual[is_right], self.counts[is_right])

    @cached_property
    def total(self) -> int:
        """All images."""
        return int(self.counts.sum())

    def _sums(self, classes: Counts, counts: Counts) -> Counts:
        sums = np.zeros(self.size, np.int64)
        np.add.at(sums, classes, counts)
        return sums

    def dense(self, shown: Counts | None = None) -> Counts:
        """All counts of some classes, in their order, (shown, shown); of all without them."""
        if shown is None:
            shown = np.arange(self.size)
        places = np.full(self.size, -1, np.int64)
        places[shown] = np.arange(len(shown))
        rows, columns = places[self.actual], places[self.predicted]
        is_there = (rows >= 0) & (columns >= 0)
        found = np.zeros((len(shown), len(shown)), np.int64)
        found[rows[is_there], columns[is_there]] = self.counts[is_there]
        return found

    def rows(self) -> Iterator[list[int]]:
        """The counts of each actual class, one class after the other."""
        ends = np.searchsorted(self.actual, np.arange(self.size + 1))
        for start, end in itertools.pairwise(ends.tolist()):
            row = [0] * self.size
            cells = self.predicted[start:end].tolist(), self.counts[start:end].tolist()
            for place, count in zip(*cells, strict=True):
                row[place] = count
            yield row

    def count_of(self, actual: int, predicted: int) -> int:
        """The images of one cell."""
        is_it = (self.actual == actual) & (self.predicted == predicted)
        return int(self.counts[is_it].sum())


def shares_of(counts: Counts, per: Per) -> Shares:
    """Each cell's share of the images of its actual class, or of those predicted as its class.

    The diagonal is the recall of each class, or its precision. 0 where there are no images.
    """
    totals = counts.sum(axis=1 if per == "actual" else 0, keepdims=True)
    shares: Shares = counts / np.maximum(totals, 1)
    return shares


def most_confused(found: Confusion, limit: int) -> list[ConfusedPair]:
    """Pairs of classes by the number of images confused, most first, at most `limit`; pairs of
    equally many are in the order of the classes.
    """
    wrong = np.flatnonzero(found.actual != found.predicted)
    order = wrong[np.argsort(-found.counts[wrong], kind="stable")][:limit]
    cells = (found.actual[order], found.predicted[order], found.counts[order])
    return [ConfusedPair(*map(int, cell)) for cell in zip(*cells, strict=True)]


def most_confused_classes(found: Confusion, limit: int) -> Numbers:
    """The classes of the most confused pairs, at most `limit`, in their own order; filled up with
    the first ones.
    """
    pairs = most_confused(found, limit)
    named = [number for pair in pairs for number in (pair.actual, pair.predicted)]
    chosen = list(dict.fromkeys([*named, *range(min(limit, found.size))]))[:limit]
    return np.array(sorted(chosen), np.intp)


def balanced_accuracy(found: Confusion) -> float:
    """The mean of the recalls of the classes that have images, 0..1; 0 where none has."""
    totals = found.actual_totals
    recalls = found.right[totals > 0] / totals[totals > 0]
    return float(recalls.mean()) if len(recalls) else 0.0


def cohen_kappa(found: Confusion) -> float | None:
    """Cohen's kappa: the agreement of actual and predicted classes beyond that by chance, at most
    1; None where all images are of one class and were predicted as it.
    """
    total = max(1, found.total)
    by_chance = float(found.actual_totals @ found.predicted_totals) / total**2
    agreed = int(found.right.sum()) / total
    return (agreed - by_chance) / (1 - by_chance) if by_chance < 1 else None


def order_by_confusion(counts: Counts) -> Numbers:
    """The classes in an order that brings those which are confused next to each other.

    Spectral seriation (Atkins, Boman and Hendrickson 1998): sorted by the second eigenvector of
    the Laplacian of the share of images that two classes exchange. Groups of classes that are never
    confused with others follow one another. The time grows with the third power of their number:
    a second at 1,000.
    """
    weights = shares_of(counts, "actual")
    np.fill_diagonal(weights, 0)
    weights = weights + weights.T
    groups = _connected(weights > 0)
    ordered = [group[_by_fiedler(weights[np.ix_(group, group)])] for group in groups]
    return np.concatenate(ordered) if ordered else np.zeros(0, np.intp)


def _connected(linked: np.ndarray[Any, np.dtype[np.bool_]]) -> list[Numbers]:
    """The connected components of a graph, in the order of their first classes."""
    is_left = np.ones(len(linked), bool)
    groups = []
    while is_left.any():
        reached = np.zeros(len(linked), bool)
        reached[is_left.argmax()] = True
        while not np.array_equal(wider := reached | linked[reached].any(axis=0), reached):
            reached = wider
        groups.append(np.flatnonzero(reached))
        is_left &= ~reached
    return groups


def _by_fiedler(weights: Shares) -> Numbers:
    """The order of a connected group, in the direction in which its first class comes early."""
    if len(weights) < 3:
        return np.arange(len(weights))
    laplacian = np.diag(weights.sum(axis=1)) - weights
    vector = np.linalg.eigh(laplacian).eigenvectors[:, 1]
    order = np.argsort(vector, kind="stable")
    is_late = 2 * int(np.flatnonzero(order == 0)[0]) >= len(order)
    return order[::-1] if is_late else order
