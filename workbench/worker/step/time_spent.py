"""Where the seconds of a training go, and what would save the most of them."""

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


class TimeLedger:
    """Books every second of the training thread under one activity.

    What is booked nowhere else is "host": Python between the calls.

    Attributes:
        place: Where the images are: "memory", "cached" or "streamed"; None until it is known.
        is_augmenting: Random layers run in the input pipeline.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.place: str | None = None
        self.is_augmenting = False
        self._clock = clock
        self._begun = clock()
        self._reported_at = self._begun
        self._seconds = dict.fromkeys(ACTIVITIES, 0.0)
        self._inner = 0.0

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
            self._seconds[activity] += elapsed - self._inner
            self._inner = outer + elapsed

    def add_call(self, results: StepResults, *, is_first: bool = False) -> None:
        """Books one call of the loop; the first one mostly compiles."""
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
        seconds["host"] = max(0.0, self._reported_at - self._begun - sum(seconds.values()))
        advice = time_advice(seconds, place=self.place, is_augmenting=self.is_augmenting)
        rounded: dict[str, Any] = {f"{activity}_s": round(s, 3) for activity, s in seconds.items()}
        return TimeSpent(advice=advice, **rounded)


def time_advice(
    seconds: dict[str, float], *, place: str | None = None, is_augmenting: bool = False
) -> str:
    """The next action in words, from the seconds by activity; "" when there is nothing to gain."""
    if seconds["input"] + seconds["compute"] < _SETTLED_S:
        return ""
    total = sum(seconds[name] for name in ACTIVITIES)  # as the shares beside the advice
    shares = {name: seconds[name] / total for name in ("input", "host", "validation", "saving")}
    worst = max(shares, key=lambda name: shares[name])
    if shares[worst] < _SMALLEST_SHARE:
        return ""
    percent = f"{100 * shares[worst]:.0f}%"
    if worst == "input":
        remedy = _input_remedy(place, is_augmenting=is_augmenting)
        return f"{percent} of the time is input wait: {remedy}."
    return {
        "host": f"{percent} of the time is host overhead: use more steps per execution or a "
        "larger batch.",
        "validation": f"{percent} of the time is validation: use a smaller validation "
        "split or longer epochs.",
        "saving": f"{percent} of the time is checkpointing: the runs folder may be on a slow disk.",
    }[worst]


def _input_remedy(place: str | None, *, is_augmenting: bool) -> str:
    remedies = []
    if place == "streamed":
        remedies.append("cache decoded images on disk or in memory")
    elif place == "cached":
        remedies.append("cache the images in memory, if they fit")
    if is_augmenting:
        remedies.append("use less augmentation")
    return ", or ".join(remedies) or "close other programs that use the CPU"
