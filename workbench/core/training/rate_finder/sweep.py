"""A sweep from small to large learning rates: where it has diverged, and its first descent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[np.float64]]

DIVERGED = 3.0
"""A smoothed loss of so many times the lowest one ends a sweep."""

_STEPS = 120

_SMOOTHING = 0.85
_SMOOTHED_NOISE = math.sqrt((1 - _SMOOTHING) / (1 + _SMOOTHING))
"""Noise of the smoothed losses for each unit of noise of the losses (of an exponential mean)."""

_SETTLED = 10
"""Steps until the smoothing averages enough; the rates are so low there that little changes."""

_WINDOW = 24
"""Steps that the noise around a step is taken from."""

_NOISES = 4.0
"""A fall or climb counts from so many times the noise of the smoothed losses on."""

_LEAST_FALL = 0.005
"""Share of the loss before a fall: a smaller one decides nothing however little noise there is."""


@dataclass(frozen=True)
class Descent:
    """The first stretch of rising rates on which the loss falls by more than noise.

    Attributes:
        rate: Rate at its lowest point, where the loss falls no more.
        fall: How far the smoothed loss has fallen there.
    """

    rate: float
    fall: float

    @property
    def start(self) -> float:
        """Rate at which to begin to look for a good one: the loss answers late to a rising rate."""
        return self.rate / 3


def sweep_steps(batch_size: int) -> int:
    """Steps of a sweep: more for small batches, whose loss is noisier; passes may be repeated."""
    return round(_STEPS * min(2.0, max(1.0, math.sqrt(256 / batch_size))))


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


def batch_noise(losses: Values) -> float:
    """Standard deviation of the loss between batches, from the differences of neighbors: what
    changes slowly is no noise, and a few leaps count little.
    """
    if len(losses) < 3:
        return 0.0
    leaps = np.diff(losses)
    spread = np.median(np.abs(leaps - np.median(leaps)))
    return float(spread / 0.6745 / math.sqrt(2))  # of a normal distribution, of one loss


def first_descent(rates: Values, losses: Values) -> Descent | None:
    """The first descent of a sweep; None where the loss never falls by more than noise.

    `losses` (n,) are those of the steps made with rising `rates` (n,). It ends where the loss
    climbs by more than noise: a valley behind that hump is ignored, nor is anything from
    the first loss on that is not a finite number.
    """
    end = _end(losses)
    if end <= _SETTLED:
        return None
    curve, losses = smoothed(losses[:end])[_SETTLED:], losses[:end]
    rates = rates[_SETTLED:end]
    highest, lowest = float(curve[0]), 0
    for step, value in enumerate(curve):
        near = _threshold(losses[max(0, step + _SETTLED - _WINDOW) : step + _SETTLED], highest)
        has_fallen = highest - curve[lowest] > near
        if has_fallen and value - curve[lowest] > near:
            break
        if value < curve[lowest]:
            lowest = step
        elif not has_fallen and value > highest:
            highest, lowest = float(value), step
    fall = highest - float(curve[lowest])
    window = losses[max(0, lowest + _SETTLED - _WINDOW) : lowest + _SETTLED]
    return Descent(float(rates[lowest]), fall) if fall > _threshold(window, highest) else None


def _end(losses: Values) -> int:
    """Steps before the loss is no finite number or has diverged."""
    bad = ~np.isfinite(losses)
    curve = smoothed(np.where(bad, 0.0, losses))
    bad |= curve > DIVERGED * np.minimum.accumulate(np.where(bad, np.inf, curve))
    return int(np.argmax(bad)) if bad.any() else len(losses)


def _threshold(losses: Values, level: float) -> float:
    """What a fall or climb of the smoothed losses must exceed."""
    noise = _NOISES * math.sqrt(2) * _SMOOTHED_NOISE * batch_noise(losses)
    return max(noise, _LEAST_FALL * abs(level))
