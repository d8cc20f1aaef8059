"""Races a few ways to run a training against each other, within a budget of seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from workbench.worker.step.variants import Timing, Way

LONGEST_S = 10.0
LARGEST_SHARE = 0.02
"""Fraction of the estimated run: choosing must never cost what it can gain."""

_ROUNDS = 3
_LOST = 1.3
"""A way this many times slower than the best is not looked at again."""

_SLOWER = 3.0
"""A way that loses may take so many times longer for each of its first two steps."""

_XLA_START = 5.0
"""Compiling by XLA takes about so many times as long as tracing does."""


class Racer(Protocol):
    """A way that is ready to run."""

    @property
    def start_s(self) -> float:
        """Seconds that building, tracing and the first step have taken."""

    def step_s(self) -> float:
        """Runs a few steps; seconds of one."""


@dataclass(frozen=True)
class SearchResult:
    """What a search has found out.

    Attributes:
        timings: Timings of the variants that were run.
        spent_s: Seconds it took, without the first way's start, which is no loss.
        skipped: Ways for which the budget was too small: the seconds that were left for each.
    """

    timings: Mapping[Way, Timing]
    spent_s: float
    skipped: Mapping[Way, float]


def search(
    ways: Sequence[Way],
    start: Callable[[Way], Racer],
    *,
    steps: int,
    tell: Callable[[Way, float], None],
    clock: Callable[[], float] = time.monotonic,
) -> SearchResult:
    """Measures the ways one after the other against the first, which is expected to win.

    Turns are taken, and the shortest time counts: what else the computer does disturbs all
    alike, and only ever upwards.

    Args:
        ways: The most promising first.
        start: Builds a way and runs its first step.
        steps: Steps of the whole run; budget and decision depend on it.
        tell: Told each way before it starts, and the share of the budget that is spent.
        clock: Seconds.
    """
    tell(ways[0], 0.0)
    first = start(ways[0])
    began = clock()
    shortest = {ways[0]: min(first.step_s() for _ in range(2))}
    starts = {ways[0]: first.start_s}
    budget = budget_s(steps, shortest[ways[0]])
    skipped = {}
    for way in ways[1:]:
        spent = clock() - began
        if spent + _expected_s(way, first.start_s, shortest[ways[0]]) > budget:
            skipped[way] = max(0.0, budget - spent)
            continue
        tell(way, spent / budget)
        racer = start(way)
        starts[way] = racer.start_s
        shortest[way] = racer.step_s()
        for _ in range(_ROUNDS - 1):
            best = min(shortest.values())
            if shortest[way] > _LOST * best or clock() - began > budget:
                break
            shortest[ways[0]] = min(shortest[ways[0]], first.step_s())
            shortest[way] = min(shortest[way], racer.step_s())
    timings = {way: Timing(shortest[way], starts[way]) for way in shortest}
    return SearchResult(timings, clock() - began, skipped)


def budget_s(steps: int, step_s: float) -> float:
    """Seconds that may be spent on choosing how to run so many steps of about `step_s`."""
    return min(LONGEST_S, LARGEST_SHARE * steps * step_s)


def _expected_s(way: Way, start_s: float, step_s: float) -> float:
    """A guess at what looking at a way costs."""
    return start_s * (_XLA_START if way.xla else 1.0) + 2 * _SLOWER * step_s
