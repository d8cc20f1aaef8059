"""Splitting images into parts: the same in each class, the same on every machine.

Uses its own arithmetic instead of numpy's random numbers, whose order may change between
versions: a run's test part must stay its test part for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Indices = np.ndarray[Any, np.dtype[np.int64]]


Parts = np.ndarray[Any, np.dtype[np.int8]]
"""The part of each image, TRAIN, VALIDATION or TEST; -1 where none is given."""

TRAIN, VALIDATION, TEST = range(3)


def divide_by_order(
    labels: np.ndarray[Any, Any],
    *,
    shares: tuple[float, float],
    seed: int,
    fold: int = 1,
    folds: int = 0,
) -> Parts:
    """The part of each image by its place in the list of all: stratified, reproducible by seed.

    Args:
        labels: Class number of each image, (n,).
        shares: (share of the images of each class for testing, share of those that are left for
            validation), 0..1; 0 for none.
        seed: The same seed gives the same parts.
        fold: The fold that validates, from 1, where there are any.
        folds: So many folds instead of the share; 0 for the share.
    """
    parts = np.full(len(labels), -1, np.int8)
    # Another seed than the test's, else the same images would be next in line.
    rounds = ((TEST, shares[0], seed), (VALIDATION, shares[1], seed + 1))
    for part, share, own_seed in rounds:
        free = np.flatnonzero(parts < 0)
        if part == VALIDATION and folds:
            parts[free[_fold_of(labels[free], own_seed, folds) == fold - 1]] = part
        elif share > 0:
            chosen, _ = split_indices(labels[free], shares=(share,), seed=own_seed)
            parts[free[chosen]] = part
    parts[parts < 0] = TRAIN
    return parts


def _fold_of(labels: np.ndarray[Any, Any], seed: int, folds: int) -> Indices:
    """The fold of each image, stratified."""
    found = np.zeros(len(labels), np.int64)
    for label in np.unique(labels):
        order = random_order(np.flatnonzero(labels == label), seed)
        found[order] = fold_numbers(np.ones(len(order), np.int64), folds)
    return found


def split_indices(
    labels: np.ndarray[Any, Any], *, shares: Sequence[float], seed: int
) -> tuple[Indices, ...]:
    """Indices of len(shares) + 1 parts; the last holds the rest.

    In each class each part gets its share, rounded. A class with enough images gives at
    least one to every part, and the rest is never empty; too small a class goes to the
    rest first.

    Args:
        labels: Class number of each image, (n,).
        shares: Part of all images for each part but the last: each 0 or above, in all
            at most 1.
        seed: The same seed gives the same parts.

    Returns:
        Ascending indices; together each of 0..n-1 exactly once.
    """
    if any(share < 0 for share in shares) or sum(shares) > 1 + 1e-9:
        raise ValueError(f"shares must be 0 or above and at most 1 in total, not {tuple(shares)}")
    labels = np.asarray(labels)
    parts: list[list[Indices]] = [[] for _ in range(len(shares) + 1)]
    for label in np.unique(labels):
        order = random_order(np.flatnonzero(labels == label), seed)
        ends = np.cumsum(split_sizes(len(order), shares))
        for part, piece in zip(parts, np.split(order, ends), strict=True):
            part.append(piece)
    return tuple(np.sort(np.concatenate(part)) if part else np.zeros(0, np.int64) for part in parts)


def random_order(indices: np.ndarray[Any, Any], seed: int) -> Indices:
    """`indices` in an order that depends on them and the seed alone."""
    keys = mixed(indices.astype(np.uint64) + mixed(np.array([seed], np.uint64)))
    return indices.astype(np.int64)[np.argsort(keys, kind="stable")]


def fold_numbers(sizes: Indices, folds: int) -> Indices:
    """The fold, 0 to folds - 1, of each unit of so many images: in their order, of equal size."""
    middles = np.cumsum(sizes) - sizes / 2
    numbers = np.floor(folds * middles / max(1, int(sizes.sum()))).astype(np.int64)
    return numbers.clip(max=folds - 1)


def mixed(numbers: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """SplitMix64: each number becomes one of 2**64, evenly spread (arithmetic wraps)."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def split_sizes(count: int, shares: Sequence[float]) -> list[int]:
    """How many of the `count` images of one class go to each part but the last."""
    wanted = [int(count * share + 0.5) for share in shares]
    if count > len(shares):
        wanted = [
            max(1, size) if share > 0 else 0 for size, share in zip(wanted, shares, strict=True)
        ]
    while sum(wanted) >= max(count, 1) and any(wanted):  # the rest keeps at least one
        wanted[wanted.index(max(wanted))] -= 1
    return wanted
