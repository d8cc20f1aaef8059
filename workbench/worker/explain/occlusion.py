"""Occlusion: how much a class loses when a part of the image is covered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from workbench.inference.runner import Pixels
from workbench.worker.saved_models.keras_runner import KerasRunner

Maps = np.ndarray[Any, np.dtype[np.float32]]

_PATCHES = 7
"""So many patches cover a side: small enough to show places, large enough to hide a thing."""

LEAST_DROP = 0.001
"""A patch that lowers the probability by less has no part in the answer."""

_AT_ONCE = 32


def occlusion_drops(
    runner: KerasRunner, image: Pixels, number: int, *, on_progress: Callable[[float], None]
) -> Maps:
    """By how much the probability of a class falls, on average over the patches that cover a place.

    A patch has the image's mean color and is moved by half its size.

    Args:
        runner: The model.
        image: uint8 (height, width, channels), fitted to the model.
        number: Number of the class.
        on_progress: Called with the fraction done, 0..1, before each step; may raise to stop.

    Returns:
        float32 (height, width); below 0 where covering a place raises the probability.
    """
    height, width = image.shape[:2]
    patches = list(product(_spans(height), _spans(width)))
    fill = image.mean(axis=(0, 1)).round().astype(np.uint8)
    whole = float(runner.predict(image[None])[0, number])
    total, times = np.zeros((height, width)), np.zeros((height, width))
    for done in range(0, len(patches), _AT_ONCE):
        on_progress(done / len(patches))
        some = patches[done : done + _AT_ONCE]
        covered = np.repeat(image[None], len(some), axis=0)
        for copy, place in zip(covered, some, strict=True):
            copy[place] = fill
        drops = whole - runner.predict(covered)[:, number]
        for place, drop in zip(some, drops, strict=True):
            total[place] += drop
            times[place] += 1
    return (total / times).astype(np.float32)


def _spans(side: int) -> Iterator[slice]:
    """Overlapping spans of one length that cover a side to its end."""
    length = max(1, -(-side // _PATCHES))
    step = max(1, length // 2)
    for start in range(0, side - length, step):
        yield slice(start, start + length)
    yield slice(side - length, side)
