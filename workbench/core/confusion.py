"""What a confusion matrix says: shares, the most confused pairs, averages, an order of classes.

Matrices are int64 (classes, classes): rows are actual classes, columns predicted ones.
"""

from __future__ import annotations

from dataclasses import dataclass
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


def shares_of(counts: Counts, per: Per) -> Shares:
    """Each cell's share of the images of its actual class, or of those predicted as its class.

    The diagonal is the recall of each class, or its precision. 0 where there are no images.
    """
    totals = counts.sum(axis=1 if per == "actual" else 0, keepdims=True)
    shares: Shares = counts / np.maximum(totals, 1)
    return shares


def most_confused(counts: Counts, limit: int) -> list[ConfusedPair]:
    """Pairs of classes by the number of images confused, most first, at most `limit`; pairs of
    equally many are in the order of the classes.
    """
    wrong = counts - np.diag(np.diagonal(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:limit]
    rows, columns = np.unravel_index(order, wrong.shape)
    pairs = zip(rows.tolist(), columns.tolist(), wrong[rows, columns].tolist(), strict=True)
    return [ConfusedPair(*pair) for pair in pairs if pair[2]]


def balanced_accuracy(counts: Counts) -> float:
    """The mean of the recalls of the classes that have images, 0..1; 0 where none has."""
    totals = counts.sum(axis=1)
    recalls = np.diagonal(counts)[totals > 0] / totals[totals > 0]
    return float(recalls.mean()) if len(recalls) else 0.0


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
