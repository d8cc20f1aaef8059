"""The values of a plot that are worth its height: all of them, or all but a few far away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[Any]]
Span = tuple[float, float]

_FEWEST = 20
_REACH = 1.5
"""Values farther from the middle nine tenths than so many of their ranges are far away; Tukey's
factor for quartiles, here for wider quantiles, so that fewer values are."""

_WORTH = 4.0
"""Leaving values out must make the rest so many times as high: else all of them are shown."""


def span_of(lines: Sequence[Values]) -> Span | None:
    """Lowest and highest of all finite values; None where there is none."""
    found = _finite(lines)
    return (float(found.min()), float(found.max())) if len(found) else None


def robust_span(lines: Sequence[Values]) -> Span | None:
    """As `span_of`, without a few values far from the rest that would flatten it.

    The start of a line is never left out: a loss begins far above its later values.
    """
    whole, found = span_of(lines), _finite(lines)
    if whole is None or len(found) < _FEWEST:
        return whole
    low, high = np.quantile(found, [0.05, 0.95])
    room = _REACH * (high - low)
    fence = (low - room, high + room)
    near = [line[_near(line, fence)] for line in lines]
    inside = span_of(near)
    if inside is None or whole[1] - whole[0] <= _WORTH * (inside[1] - inside[0]):
        return whole
    return inside


def _near(line: Values, fence: Span) -> Values:
    """Which values of a line are within the fence, or before the first that is."""
    is_near = np.logical_and(line >= fence[0], line <= fence[1])
    if is_near.any():
        is_near[: int(np.argmax(is_near))] = True
    return np.logical_and(is_near, np.isfinite(line))


def _finite(lines: Sequence[Values]) -> Values:
    whole: Values = np.concatenate(lines) if lines else np.empty(0)
    found: Values = whole[np.isfinite(whole)]
    return found
