"""The order of the classes of a network from elsewhere, judged by images with known classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from workbench.core.evaluation.significance import exact_mcnemar

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

LEVEL = 0.01
"""An order is taken where chance explains its lead over every other one less often than this."""

_WORSE = 0.05
"""A single order is doubted where as few hits as its are rarer than this by chance."""

_STRICT = 0.001
"""Level of chance for an order that was fitted to the images: of many orders, one is good by
chance."""

_MOST_CLASSES = 300
"""Fitting takes the cube of this many steps."""

FITTED = "best_fit"
"""Key of the order that fits the images best, of all orders."""


@dataclass(frozen=True)
class Judged:
    """What the images say about some orders.

    Attributes:
        right: Correct images by key of the order; that of FITTED is counted on images that it was
            not fitted to.
        chosen: Key of the order that the images confirm; "" where they confirm none.
        fitted: The order that fits the images far better than all others, the class of each
            output; () where there is none.
    """

    right: Mapping[str, int]
    chosen: str
    fitted: tuple[int, ...] = ()


def judge(orders: Mapping[str, Sequence[int]], predicted: Numbers, truth: Numbers) -> Judged:
    """Judges orders of classes by images.

    A single order needs no confirmation, only that no other one fits far better, and that it is not
    worse than chance: where the images are few, no other one can be shown. Of several, one is
    confirmed that is better than each other one (McNemar's exact test) and than chance (binomial
    test), both at `LEVEL`.

    Args:
        orders: For each output the number of its class, by key.
        predicted: The output of the largest probability for each image, int64 (n,).
        truth: The class of each image, int64 (n,).
    """
    hits = {key: np.asarray(order)[predicted] == truth for key, order in orders.items()}
    best = max(hits, key=lambda key: int(hits[key].sum()))
    right = {key: int(hit.sum()) for key, hit in hits.items()}
    size = len(orders[best])
    crossed = _cross_fitted(predicted, truth, size)
    if crossed is not None and _leads(crossed, hits[best], _STRICT):
        fitted = tuple(best_order(predicted, truth, size))
        return Judged({**right, FITTED: int(crossed.sum())}, "", fitted)
    others = [hit for key, hit in hits.items() if key != best]
    is_clear = all(_leads(hits[best], other, LEVEL) for other in others)
    count = len(truth)
    is_good = chance_of(right[best], count, 1 / size) < LEVEL
    # At most so many hits: what is left of all are at least so many misses.
    is_bad = chance_of(count - right[best], count, 1 - 1 / size) < _WORSE
    is_taken = is_clear and is_good if others else not is_bad
    return Judged(right, best if is_taken else "")


def chance_of(hits: int, total: int, share: float) -> float:
    """The probability of at least so many hits among so many trials, each with that probability."""
    return float(
        sum(
            comb(total, number) * share**number * (1 - share) ** (total - number)
            for number in range(hits, total + 1)
        )
    )


def _leads(first: Mask, second: Mask, level: float) -> bool:
    """Whether the first order has more images right than the second one, not by chance."""
    more, fewer = int((first & ~second).sum()), int((second & ~first).sum())
    return more > fewer and exact_mcnemar(more, fewer) < level


def _cross_fitted(predicted: Numbers, truth: Numbers, size: int) -> Mask | None:
    """Whether each image is right by the order that fits the other half of the images best; None
    where there are too many classes.
    """
    if size > _MOST_CLASSES or len(truth) < 2:
        return None
    half = np.zeros(len(truth), np.bool_)
    half[np.argsort(truth, kind="stable")[::2]] = True  # every second image of each class
    hit = np.zeros(len(truth), np.bool_)
    for fitted, judged in ((half, ~half), (~half, half)):
        order = np.asarray(best_order(predicted[fitted], truth[fitted], size))
        hit[judged] = order[predicted[judged]] == truth[judged]
    return hit


def best_order(predicted: Numbers, truth: Numbers, size: int) -> list[int]:
    """The class of each output, each class once, under which most images are right; of equal ones,
    one that leaves outputs where they are.
    """
    counts = np.zeros((size, size), np.int64)
    np.add.at(counts, (predicted, truth), 1)
    # Outputs without images keep their class: no sum of these reaches one image.
    return _assigned(-(counts * (size + 1.0) + np.eye(size)))


def _assigned(costs: np.ndarray[Any, np.dtype[np.float64]]) -> list[int]:
    """The column of each row, each once, with the smallest sum of costs: the Hungarian method by
    shortest augmenting paths (Jonker and Volgenant, 1987).
    """
    size = len(costs)
    row_price, column_price = np.zeros(size + 1), np.zeros(size + 1)
    row_of = np.full(size + 1, size)  # the last column stands for the row that is to be placed
    for row in range(size):
        row_of[size], column = row, size
        lowest, before = np.full(size, np.inf), np.full(size, size)
        seen = np.zeros(size + 1, np.bool_)
        while row_of[column] != size:
            seen[column] = True
            current = row_of[column]
            reduced = costs[current] - row_price[current] - column_price[:size]
            is_shorter = ~seen[:size] & (reduced < lowest)
            lowest[is_shorter], before[is_shorter] = reduced[is_shorter], column
            following = int(np.argmin(np.where(seen[:size], np.inf, lowest)))
            step = lowest[following]
            row_price[row_of[seen]] += step
            column_price[seen] -= step
            lowest[~seen[:size]] -= step
            column = following
        while column != size:
            row_of[column] = row_of[before[column]]
            column = int(before[column])
    found = [0] * size
    for column in range(size):
        found[row_of[column]] = column
    return found
