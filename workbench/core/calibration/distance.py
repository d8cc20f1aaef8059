"""How far an image is from the training images, by the outputs of the last hidden layer.

Deep nearest neighbors (Sun et al., "Out-of-Distribution Detection with Deep Nearest Neighbors",
2022): the outputs are scaled to length 1, and the distance is 1 less the cosine to one of the
nearest training images, 0..2. It needs no assumption on the network, and with some hundred training
images it is as good as with all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float32]]
Halves = np.ndarray[Any, np.dtype[np.float16]]
Labels = np.ndarray[Any, np.dtype[np.int64]]

NEIGHBOR = 5
"""The distance is that to the nearest but four: a single odd training image does not count."""

LEAST_REFERENCES = 50
"""Fewer training images are too sparse to be compared with."""

MOST_REFERENCES = 2000
MOST_BYTES = 4 * 2**20
"""Size limit of the references, two bytes for each number."""

KEPT_SHARE = 0.95
"""Share of ordinary images within the limit: the farthest others are beyond it."""

ENOUGH_FOR_LIMIT = 100
"""Validation images: with fewer, the distance that KEPT_SHARE of them are within says too little of
other images, of which many more may be beyond it. Training images, each left out in turn, are then
counted with them, or the limit is wider."""

LEAST_FOR_LIMIT = 22
"""Validation images: of fewer not even the farthest is a limit that LEAST_KEPT of other images are
within, nine times in ten. The check is then off until it is switched on."""

LEAST_KEPT = 0.9
_RISK = 0.1
_NEARER = 1.0
"""Standard errors of the rank sum by which training images are nearer to one another than
validation images are to them: where the hidden layer was trained on them, or some are copies."""

_SEED = 5


def reference_places(num_images: int, num_outputs: int) -> Labels:
    """Which training images are the references, in order; none where they would be too few.

    Args:
        num_images: Training images.
        num_outputs: Outputs of the last hidden layer.
    """
    room = min(MOST_REFERENCES, MOST_BYTES // (2 * max(1, num_outputs)))
    count = min(room, num_images)
    if count < LEAST_REFERENCES:
        return np.zeros(0, np.int64)
    return np.sort(np.random.default_rng(_SEED).permutation(num_images)[:count])


def references(hidden: Floats) -> Halves:
    """What is kept of the training images' hidden outputs (n, d): rows of length 1."""
    return unit_rows(hidden).astype(np.float16)


def distances(hidden: Floats, kept: Halves | Floats) -> Floats:
    """Distances (n,) of images with these hidden outputs (n, d) from references (m, d)."""
    cosines = unit_rows(hidden) @ kept.astype(np.float32, copy=False).T
    at = max(0, len(kept) - NEIGHBOR)
    nearest: Floats = 1 - np.partition(cosines, at, axis=1)[:, at]
    return nearest


@dataclass(frozen=True)
class Limit:
    """Beyond which distance an image is unlike the training images.

    Attributes:
        value: The distance, 0..2.
        within: How many of the images that it was found by are within it.
        count: How many images it was found by.
        with_training: Training images are among them, each left out in turn.
    """

    value: float
    within: int
    count: int
    with_training: bool = False


def limit_of(found: Floats, kept: Halves | Floats) -> Limit:
    """The distance that KEPT_SHARE of ordinary images are within.

    Args:
        found: Distances of validation images (n,), n at least 1.
        kept: The references (m, d) that they are measured from.
    """
    if len(found) >= ENOUGH_FOR_LIMIT:
        return _limit(found, float(np.quantile(found, KEPT_SHARE)))
    left_out = leave_one_out(kept)
    if not _are_nearer(left_out, found):
        both = np.concatenate([found, left_out])
        return _limit(both, float(np.quantile(both, KEPT_SHARE)), with_training=True)
    wide = float(np.sort(found)[_tolerance_rank(len(found)) - 1])
    return _limit(found, max(wide, float(np.quantile(found, KEPT_SHARE))))


def _limit(found: Floats, value: float, *, with_training: bool = False) -> Limit:
    return Limit(value, int((found <= value).sum()), len(found), with_training)


def leave_one_out(kept: Halves | Floats) -> Floats:
    """Distances (m,) of the references (m, d) from the others."""
    rows = kept.astype(np.float32, copy=False)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -2)  # none is its own neighbor
    at = max(0, len(rows) - NEIGHBOR)
    nearest: Floats = 1 - np.partition(cosines, at, axis=1)[:, at]
    return nearest


def _are_nearer(left_out: Floats, found: Floats) -> bool:
    """Whether training images are nearer than validation images, by the rank sum (Wilcoxon)."""
    ordered = np.sort(left_out)
    below, up_to = (np.searchsorted(ordered, found, side) for side in ("left", "right"))
    pairs = len(found) * len(left_out)
    excess = float((below + up_to).sum()) / 2 - pairs / 2
    return excess > _NEARER * math.sqrt(pairs * (len(found) + len(left_out) + 1) / 12)


def _tolerance_rank(number: int) -> int:
    """Rank of the value that at least LEAST_KEPT of all are within, nine times in ten: a
    nonparametric tolerance limit (Wilks, 1941). The highest rank where there is none.
    """
    ranks = range(number, 0, -1)
    shares = (
        math.comb(number, rank) * LEAST_KEPT**rank * (1 - LEAST_KEPT) ** (number - rank)
        for rank in ranks
    )
    # The probability that so many of `number` or more are within LEAST_KEPT of all.
    beyond = zip(ranks, accumulate(shares), strict=True)
    return next((min(number, rank + 1) for rank, total in beyond if total > _RISK), 1)


def unit_rows(hidden: Floats | Halves) -> Floats:
    """Rows (n, d) scaled to length 1, float32; a row of zeros stays one."""
    lengths = np.linalg.norm(hidden.astype(np.float32), axis=1, keepdims=True)
    unit: Floats = hidden.astype(np.float32) / np.maximum(lengths, 1e-12)
    return unit
