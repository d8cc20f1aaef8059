"""Top-k accuracy: the share of images whose true class is among the k most probable ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

SHOWN = (3, 5)
"""The usual values of k; each is of use where there are more classes."""

Scores = np.ndarray[Any, np.dtype[np.floating[Any]]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]
Ranks = np.ndarray[Any, np.dtype[np.integer[Any]]]


def ranks_of(rows: Scores, labels: Numbers) -> Numbers:
    """How many classes are before the true one (n,), the most probable first and equally probable
    ones in their own order, so that 0 is the class that is predicted.

    Args:
        rows: Probabilities (n, classes).
        labels: Numbers of the true classes, (n,).
    """
    own = np.take_along_axis(rows, labels[:, None], axis=1)
    ranks: Numbers = (rows > own).sum(axis=1)
    for place in np.flatnonzero((rows == own).sum(axis=1) > 1):
        ranks[place] += (rows[place, : labels[place]] == own[place]).sum()
    return ranks


def top_k_accuracies(
    ranks: Ranks, num_classes: int, wanted: Sequence[int] = SHOWN
) -> dict[int, float]:
    """Accuracies 0..1 by k, for each wanted k below the number of classes; none without images.

    Args:
        ranks: How many classes are before the true one, (n,).
        num_classes: That the model distinguishes.
        wanted: Values of k, from 1.
    """
    if not len(ranks):
        return {}
    chosen = sorted({k for k in wanted if k < num_classes})
    return {k: float(np.mean(ranks < k)) for k in chosen}
