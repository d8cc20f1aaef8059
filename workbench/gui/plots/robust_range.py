"""The values of a plot that are worth its height: all of them, or all but a few far away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[Any]]
Span = tuple[float, float]

_FEWEST = 20
_QUANTILES = (0.05, 0.85)
_REACH = 1.5
"""Values farther from those between the quantiles than so many of their ranges are far away;
Tukey's factor for quartiles, here for wider quantiles, so that fewer values are."""

_WORTH = 4.0
"""Leaving values out must make the rest so many times as high: else all of them are shown."""

_FIRST = 5
_FAR_START = 10.0
"""A first value so many times the least of the first few is no start to come down from."""

_ABOVE_START = 1.5
"""What comes before a line is near may be so many times the start."""


def span_of(lines: Sequence[Values]) -> Span | None:
    """Lowest and highest of all finite values; None where there is none."""
    found = _finite(lines)
    return (float(found.min()), float(found.max())) if len(found) else None


def robust_span(lines: Sequence[Values]) -> Span | None:
    """As `span_of`, without values far from the rest that would flatten it.

    What a line comes down from is never left out: a loss begins far above its later values. Nor
    is what it ends with: a run that diverges has no outliers.
    """
    whole, found = span_of(lines), _finite(lines)
    if whole is None or len(found) < _FEWEST:
        return whole
    low, high = np.quantile(found, _QUANTILES)
    room = _REACH * (high - low)
    near = [_near(line[np.isfinite(line)], (low - room, high + room)) for line in lines]
    inside = span_of([values for values, _ in near])
    if inside is None or not all(is_ending for _, is_ending in near):
        return whole
    return inside if whole[1] - whole[0] > _WORTH * (inside[1] - inside[0]) else whole


def _near(line: Values, fence: Span) -> tuple[Values, bool]:
    """The values of a line without NaN that are within the fence, or before the first that is and
    no higher than it begins; and whether it ends within.
    """
    if not len(line):
        return line, True
    is_near = np.logical_and(line >= fence[0], line <= fence[1])
    is_ending = bool(is_near[-1])
    if is_near.any():
        first = int(np.argmax(is_near))
        least = float(np.min(line[:_FIRST]))
        start = float(line[0]) if line[0] <= _FAR_START * least else least
        is_near[:first] = line[:first] <= _ABOVE_START * start
    return line[is_near], is_ending


def _finite(lines: Sequence[Values]) -> Values:
    whole: Values = np.concatenate(lines) if lines else np.empty(0)
    found: Values = whole[np.isfinite(whole)]
    return found
