"""How far an image is from the training images, by the outputs of the last hidden layer.

Deep nearest neighbors (Sun et al., "Out-of-Distribution Detection with Deep Nearest Neighbors",
2022): the outputs are scaled to length 1, and the distance is 1 less the cosine to one of the
nearest training images, 0..2. It needs no assumption on the network, and with some hundred training
images it is as good as with all of them.
"""

from __future__ import annotations

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
"""Of the references, two bytes for each number."""

KEPT_SHARE = 0.95
"""Of the validation images: the farthest others are beyond the limit."""

LEAST_FOR_LIMIT = 100
"""Validation images: with fewer, the distance that KEPT_SHARE of them are within says little of
other images, of which many more may be beyond it. The check is then off until it is switched on."""

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


def limit_of(found: Floats) -> float:
    """The distance that KEPT_SHARE of validation images (n,) are within."""
    return float(np.quantile(found, KEPT_SHARE))


def unit_rows(hidden: Floats | Halves) -> Floats:
    """Rows (n, d) scaled to length 1, float32; a row of zeros stays one."""
    lengths = np.linalg.norm(hidden.astype(np.float32), axis=1, keepdims=True)
    unit: Floats = hidden.astype(np.float32) / np.maximum(lengths, 1e-12)
    return unit
