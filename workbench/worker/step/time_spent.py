"""Accounting of where the seconds of a training go, and what would save the most of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from workbench.protocol.events import TimeSpent
from workbench.worker.step.training_loop import StepResults

_INTERVAL_S = 1.0

_SMALLEST_SHARE = 0.15
"""Fraction of the training time below which advice is not worth giving."""

_SETTLED_S = 5.0
"""Seconds of steps before any advice: the first ones are not representative."""

ACTIVITIES = ("input", "compute", "host", "features", "compile", "validation", "saving")
"""What an epoch consists of, and what is before it."""


class TimeLedger:
    """Books every second of the training thread under one activity.

    What is booked nowhere else is "host": Python between the calls.

    Attributes:
        place: Where the images are: "memory", "cached" or "streamed"; None until it is known.
        is_augmenting: Random layers run in the input pipeline.
        is_call_pinned: The recipe or the target sets the steps of a call.
        has_split: Validation images are split off, of an epoch whose steps are set.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.place: str | None = None
        self.is_augmenting = False
        self.is_call_pinned = False
        self.has_split = False
        self._clock = clock
        self._begun = clock()
        self._reported_at = self._begun
        self._seconds = dict.fromkeys(ACTIVITIES, 0.0)
        self._inner = 0.0
        self._after_since: float | None = None

    def begin_after(self) -> None:
        """The last step is done: from now on all of the time is "after", and what has been booked
        stays as it is.
        """
        self._after_since = self._clock()

    @contextmanager
    def spending(self, activity: str) -> Iterator[None]:
        """Books the time within it under "compile", "validation" or "saving"; what is booked
        inside, also by `add_call`, is not booked twice.
        """
        began, outer, self._inner = self._clock(), self._inner, 0.0
        try:
            yield
        finally:
            elapsed = self._clock() - began
            if self._after_since is None:
                self._seconds[activity] += elapsed - self._inner
            self._inner = outer + elapsed

    def add_call(self, results: StepResults, *, is_first: bool = False) -> None:
        """Books one call of the loop; the first one mostly compiles."""
        if self._after_since is not None:
            return
        rest = results.seconds - results.input_s
        self._seconds["input"] += results.input_s
        self._seconds["compile" if is_first else "compute"] += rest
        self._inner += results.seconds

    def move(self, seconds: float, source: str, target: str) -> None:
        """Books seconds that were booked under one activity under another."""
        self._seconds[source] -= seconds
        self._seconds[target] += seconds

    def due(self) -> TimeSpent | None:
        """The seconds spent so far; None within a second of the last report."""
        now = self._clock()
        if now - self._reported_at < _INTERVAL_S:
            return None
        return self.snapshot()

    def snapshot(self) -> TimeSpent:
        """All that was spent up to now, and what to do about it."""
        self._reported_at = self._clock()
        seconds = dict(self._seconds)
        end = self._reported_at if self._after_since is None else self._after_since
        seconds["host"] = max(0.0, end - self._begun - sum(seconds.values()))
        advice = time_advice(
            seconds,
            place=self.place,
            is_augmenting=self.is_augmenting,
            is_call_pinned=self.is_call_pinned,
            has_split=self.has_split,
        )
        rounded: dict[str, Any] = {f"{activity}_s": round(s, 3) for activity, s in seconds.items()}
        return TimeSpent(advice=advice, after_s=round(self._reported_at - end, 3), **rounded)


def time_advice(
    seconds: dict[str, float],
    *,
    place: str | None = None,
    is_augmenting: bool = False,
    is_call_pinned: bool = False,
    has_split: bool = False,
) -> str:
    """The next action in words, from the seconds by activity; "" when there is nothing to gain.

    Only what makes an epoch shorter: tests/worker/step/test_time_advice.py follows each.
    """
    if seconds["input"] + seconds["compute"] < _SETTLED_S:
        return ""
    total = sum(seconds[name] for name in ACTIVITIES)  # as the shares beside the advice
    remedies = {
        "input": ("input wait", _input_remedy(place, is_augmenting=is_augmenting)),
        "host": (
            "host overhead",
            "set the steps per execution to automatic" if is_call_pinned else "use a larger batch",
        ),
        "validation": ("validation", "use a smaller validation split" if has_split else ""),
    }
    worst = max(remedies, key=lambda name: seconds[name])
    what, remedy = remedies[worst]
    share = seconds[worst] / total
    if share < _SMALLEST_SHARE or not remedy:
        return ""
    return f"{100 * share:.0f}% of the time is {what}: {remedy}."


def _input_remedy(place: str | None, *, is_augmenting: bool) -> str:
    remedies = []
    if place == "streamed":
        remedies.append("cache decoded images on disk or in memory")
    elif place == "cached":
        remedies.append("cache the images in memory, if they fit")
    if is_augmenting:
        remedies.append("use less augmentation")
    return ", or ".join(remedies)
