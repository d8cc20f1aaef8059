"""What is on the x axis: steps, epochs, seconds or images, plain or logarithmic.

Curves are kept by step; a scale of their run turns steps into places on the axis and back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.runs.log.history import MetricHistory

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
