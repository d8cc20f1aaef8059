"""Top-k accuracy: the share of images whose true class is among the k most probable ones."""

from __future__ import annotations

from typing import Any

import numpy as np

SHOWN = (3, 5)
"""The usual values of k; each is of use where there are more classes."""

Ranks = np.ndarray[Any, np.dtype[np.integer[Any]]]


def top_k_accuracies(ranks: Ranks, num_classes: int) -> dict[int, float]:
    """Accuracies 0..1 by k, for each usual k below the number of classes; none without images.

    Args:
        ranks: How many classes are more probable than the true one, (n,).
        num_classes: That the model distinguishes.
    """
    if not len(ranks):
        return {}
    return {k: float(np.mean(ranks < k)) for k in SHOWN if k < num_classes}
