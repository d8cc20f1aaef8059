"""The values of a plot that are worth its height: all of them, or all but a few far away, or all
but the start that a curve comes down from.
"""

from __future__ import annotations

import math
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

_ENDING = 5
"""A line ends with so many values: a last one that is alone far away is no end."""

_ENOUGH = 300
"""Quantiles of so many values are exact enough."""

_STARTS = (0.0, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3)
"""Parts of a curve that may be a start: no more, as the rest must be what is looked at."""

LONGEST_START = _STARTS[-1]
"""The part of a curve within which all of its start is."""

_START_PRICE = 6.0
"""A tenth more of a curve is start only where the rest is lower by e ** -0.6, about one half."""

_DESCENT = 1.5
"""So many times the height of the rest is shown: the end of the descent is seen, too."""


def span_of(lines: Sequence[Values]) -> Span | None:
    """Lowest and highest of all finite values; None where there is none."""
    found = _finite(lines)
    return (float(found.min()), float(found.max())) if len(found) else None


def robust_span(lines: Sequence[Values]) -> Span | None:
    """Span as of `span_of`, without values far from the rest that would flatten it: single ones,
    and those of the first steps, where a loss may begin a hundred times above its later values.

    What a line ends with is never left out: a run that diverges has no outliers.
    """
    whole = span_of(lines)
    lines = [line[np.isfinite(line)] for line in lines]
    if whole is None or sum(len(line) for line in lines) < _FEWEST:
        return whole
    rests = [(part, _rest(lines, part)) for part in _STARTS]
    found = [(part, span) for part, span in rests if span is not None]
    if not found:
        return whole
    base = min(0.0, whole[0])  # the height that matters is that above 0
    _, (low, high) = min(found, key=lambda each: _price(each[0], each[1][1] - base))
    top = min(whole[1], max(high, base + _DESCENT * (high - base)))
    return (low, top) if whole[1] - base > _WORTH * (top - base) else whole


def _price(part: float, height: float) -> float:
    """Cost of leaving out a start: low for a low rest and a short start."""
    return height * math.exp(_START_PRICE * part)


def _rest(lines: Sequence[Values], part: float) -> Span | None:
    """The span of what follows the first `part` of each line, but for what is far away from the
    rest of its line and of all lines; None where a line ends so.
    """
    rests = [line[int(part * len(line)) :] for line in lines if len(line)]
    common = _fence(np.concatenate(rests))
    near: list[Values] = []
    for rest in rests:
        own = _fence(rest)
        end = np.sort(rest[-_ENDING:])[len(rest[-_ENDING:]) // 2]
        if not any(low <= end <= high for low, high in (own, common)):
            return None
        is_near = [np.logical_and(rest >= low, rest <= high) for low, high in (own, common)]
        near.append(rest[np.logical_or(*is_near)])
    return span_of(near)


def _fence(values: Values) -> Span:
    # Every second value of a line drawn may be the lowest of its pixel: an odd stride takes both.
    few = np.sort(values[:: len(values) // _ENOUGH | 1])
    low, high = (float(few[math.ceil(part * (len(few) - 1))]) for part in _QUANTILES)
    room = _REACH * (high - low)
    return low - room, high + room


def _finite(lines: Sequence[Values]) -> Values:
    whole: Values = np.concatenate(lines) if lines else np.empty(0)
    found: Values = whole[np.isfinite(whole)]
    return found
