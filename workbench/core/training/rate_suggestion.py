"""The learning rate that a sweep from small to large rates suggests.

The idea is Leslie Smith's range test ("Cyclical Learning Rates for Training Neural Networks",
WACV 2017): the loss first stays, then falls, then climbs; a good rate lies where it falls
fastest, well before the lowest point.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[np.float64]]

DIVERGED = 3.0
"""A smoothed loss of so many times the lowest one ends a sweep."""

_SMOOTHING = 0.85
_SAFETY = 10.0  # below the lowest point: there the loss is about to climb
_LEAST_FALL = 0.03  # of the first loss; less is noise


def smoothed(losses: Values) -> Values:
    """An exponential mean over the steps, corrected at the start, float64 (n,)."""
    mean, out = 0.0, np.empty(len(losses))
    for index, loss in enumerate(losses):
        mean = _SMOOTHING * mean + (1 - _SMOOTHING) * loss
        out[index] = mean / (1 - _SMOOTHING ** (index + 1))
    return out


def has_diverged(losses: Values) -> bool:
    """Whether a sweep has gone far enough: the loss is no number, or far above its lowest."""
    if not len(losses):
        return False
    if not math.isfinite(losses[-1]):
        return True
    curve = smoothed(losses)
    return bool(curve[-1] > DIVERGED * np.min(curve))


def suggest_rate(rates: Values, losses: Values) -> float | None:
    """The rate to train with: a tenth of where the loss is lowest, or where it falls fastest
    if that is larger; two digits. None when no rate made the loss fall.

    `losses` (n,) are those of the steps made with rising `rates` (n,); from the first that is
    not a finite number on they are not looked at.
    """
    finite = np.isfinite(losses)
    end = len(losses) if finite.all() else int(np.argmin(finite))
    if end < 3:
        return None
    curve = smoothed(losses[:end])
    lowest = int(np.argmin(curve))
    if curve[0] - curve[lowest] < _LEAST_FALL * abs(curve[0]):
        return None
    falls = np.diff(curve[: lowest + 1])
    steepest = float(rates[int(np.argmin(falls))]) if len(falls) else 0.0
    rate = min(max(float(rates[lowest]) / _SAFETY, steepest), float(rates[lowest]) / 2)
    return float(f"{rate:.2g}")
