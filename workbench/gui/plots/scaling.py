"""Scaling of curves: levels of detail, the range of values without outliers, units of the
x axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.runs.log.history import MetricHistory

# pyramid -------------------------------------------------------------------------------------
# Lowest and highest values of ever larger groups: a curve of any length is drawn from a
# few thousand numbers, and no peak is lost. Plain NumPy.
#
# pyqtgraph's own downsampling goes through all values for each drawing, takes x values for evenly
# spaced, and draws nothing of a group with one NaN in it; `packaging/bench.sh plots` prints both.

Values = np.ndarray[Any, np.dtype[Any]]
Positions = np.ndarray[Any, np.dtype[np.int64]]

FACTOR = 8


class _Level:
    """A growing row of lows above one of highs; the last group may still be filling."""

    def __init__(self, dtype: Any) -> None:
        self._ends = np.empty((2, 64), dtype)
        self._count = 0

    def write(self, first: int, low: Values, high: Values) -> None:
        """Sets the groups from `first` on and drops those behind them."""
        end, room = first + len(low), self._ends.shape[1]
        if end > room:
            grown = np.empty((2, max(end, 2 * room)), self._ends.dtype)
            grown[:, : self._count] = self.ends
            self._ends = grown
        self._ends[:, first:end] = low, high
        self._count = end

    @property
    def ends(self) -> Values:
        """Lows and highs, shape (2, groups)."""
        return self._ends[:, : self._count]


def _fold(lows: Values, highs: Values, group: int) -> tuple[Values, Values]:
    """Lows and highs of each `group` neighbors (the last group may be smaller)."""
    if group == 1 or len(lows) == 0:
        return lows, highs
    starts = np.arange(0, len(lows), group)
    return np.fmin.reduceat(lows, starts), np.fmax.reduceat(highs, starts)


class PeakPyramid:
    """Lows and highs over groups of 8, 64, 512, ... values of a growing series.

    NaN is passed over; a group of nothing but NaN is NaN. Levels are of the values' type.
    """

    def __init__(self) -> None:
        self._levels: list[_Level] = []
        self.count = 0

    def extend(self, values: Values) -> None:
        """Takes in what `values` has more than at the last call (it only ever grows)."""
        old, self.count = self.count, len(values)
        if self.count == old:
            return
        lows, highs, changed = values, values, old
        depth = 0
        while len(lows) > FACTOR:
            if depth == len(self._levels):
                self._levels.append(_Level(values.dtype))
                changed = 0
            level = self._levels[depth]
            first = changed // FACTOR
            level.write(first, *_fold(lows[first * FACTOR :], highs[first * FACTOR :], FACTOR))
            (lows, highs), changed = level.ends, first
            depth += 1

    def window(
        self, values: Values, start: int, stop: int, columns: int
    ) -> tuple[Positions, Values]:
        """What to draw of values[start:stop] on `columns` pixel columns.

        Groups start at multiples of their own size, so they don't jump while panning.

        Returns:
            Positions in `values` (rising, each twice where grouped) and the values there:
            low, high, low, high, ... At most about 2 * columns + 4 of them.
        """
        start, stop = max(0, start), min(stop, self.count)
        if stop - start <= 2 * columns:
            return np.arange(start, max(start, stop)), values[start:stop]
        size = -(-(stop - start) // columns)
        depth = min(len(self._levels), int(np.log(size) / np.log(FACTOR) + 1e-9))
        unit = FACTOR**depth
        group = -(-size // unit)
        first, last = start // (unit * group), -(-stop // (unit * group))
        here = slice(first * group, last * group)
        all_lows, all_highs = self._levels[depth - 1].ends if depth else (values, values)
        lows, highs = _fold(all_lows[here], all_highs[here], group)
        middles = (np.arange(first, first + len(lows)) * 2 + 1) * (unit * group) // 2
        pairs = np.empty(2 * len(lows), lows.dtype)
        pairs[0::2], pairs[1::2] = lows, highs
        return np.repeat(np.minimum(middles, self.count - 1), 2), pairs


# robust range --------------------------------------------------------------------------------
# The values of a plot that are worth its height: all of them, or all but a few far away, or all
# but the start that a curve comes down from.

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


# x scale -------------------------------------------------------------------------------------
# What is on the x axis: steps, epochs, seconds or images, plain or logarithmic.
#
# Curves are kept by step; a scale of their run turns steps into places on the axis and back.

Numbers = np.ndarray[Any, np.dtype[Any]]
Places = np.ndarray[Any, np.dtype[np.float64]]

X_AXES = {"step": "Step", "epoch": "Epoch", "time": "Training time", "images": "Images seen"}
"""Key of each x axis and its title."""

_NONE = np.empty(0, dtype=np.float32)


@dataclass(frozen=True)
class XScale:
    """The x axis of one run.

    Attributes:
        kind: A key of X_AXES.
        steps_per_epoch: 0 while unknown: epochs are shown as steps then.
        batch_size: Images of a step; 0 while unknown.
        timed_steps, times: Steps whose time is known, rising, and their seconds.
        is_log: Whether places are logarithms to base ten.
    """

    kind: str = "step"
    steps_per_epoch: int = 0
    batch_size: int = 0
    timed_steps: Numbers = field(default_factory=_NONE.copy)
    times: Numbers = field(default_factory=_NONE.copy)
    is_log: bool = False

    @property
    def _factor(self) -> float:
        if self.kind == "epoch" and self.steps_per_epoch > 0:
            return 1.0 / self.steps_per_epoch
        if self.kind == "images" and self.batch_size > 0:
            return float(self.batch_size)
        return 1.0

    def values(self, steps: Numbers) -> Places:
        """What the axis says at these steps: epochs, seconds, ..."""
        if self.kind == "time":
            return _interpolated(steps, self.timed_steps, self.times)
        return np.asarray(steps, dtype=np.float64) * self._factor

    def places(self, steps: Numbers) -> Places:
        """Positions of these steps on the axis; NaN where it has no place for them."""
        values = self.values(steps)
        if not self.is_log:
            return values
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(values > 0.0, np.log10(values), np.nan)

    def place(self, step: float) -> float:
        """Position of one step on the axis."""
        return float(self.places(np.array([step]))[0])

    def step_at(self, place: float) -> float:
        """The step (with a fraction) at a place of the axis."""
        value = 10.0 ** min(place, 300.0) if self.is_log else place
        if self.kind == "time":
            return float(_interpolated(np.array([value]), self.times, self.timed_steps)[0])
        return value / self._factor


def scale_of(history: MetricHistory, kind: str, *, is_log: bool) -> XScale:
    """The x axis of a run; `kind` is a key of X_AXES."""
    return XScale(
        kind=kind,
        steps_per_epoch=history.steps_per_epoch,
        batch_size=history.started.batch_size if history.started else 0,
        timed_steps=history.curves.batch_steps,
        times=history.curves.batch_times,
        is_log=is_log,
    )


def _interpolated(at: Numbers, xs: Numbers, ys: Numbers) -> Places:
    """np.interp for rising float32 or int32 `xs`, without a float64 copy of all of them."""
    if len(xs) == 0:
        return np.zeros(len(at))
    at = np.asarray(at, dtype=np.float64)
    limits = np.iinfo(xs.dtype) if xs.dtype.kind == "i" else np.finfo(xs.dtype)
    needles = np.clip(np.ceil(at) if xs.dtype.kind == "i" else at, limits.min, limits.max)
    right = np.searchsorted(xs, needles.astype(xs.dtype)).clip(0, len(xs) - 1)
    left = np.maximum(right - 1, 0)
    low, high = xs[left].astype(np.float64), xs[right].astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.where(high > low, (at - low) / (high - low), 1.0).clip(0.0, 1.0)
    first, last = ys[left].astype(np.float64), ys[right].astype(np.float64)
    found: Places = first + part * (last - first)
    return found


def x_words(kind: str, value: float) -> str:
    """A place on the axis as people write it: 1,200; 2:30 min; 1.2 M."""
    if kind == "time":
        return time_words(value)
    if kind == "images" and abs(value) >= 1e6:
        return f"{value / 1e6:.4g} M"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


def time_words(seconds: float) -> str:
    """Seconds as on a clock: 45 s, 2:30, 1:02:30."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
