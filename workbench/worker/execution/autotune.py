"""Benchmarks a few execution variants against each other within a budget of seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from workbench.worker.step.variants import Timing, Variant

LONGEST_S = 10.0
LARGEST_SHARE = 0.02
"""Fraction of the estimated run: choosing must never cost what it can gain."""

_ROUNDS = 3
LOST = 1.3
"""A variant this many times slower than the best is not benchmarked again; nor is the best where
the first variant is so much slower, before and after it.
"""

_SLOWER = 3.0
"""A way that loses may take so many times longer for each of its first two steps."""

_XLA_START = 5.0
"""Compiling by XLA lasts about so many times as long as tracing does."""


class Contender(Protocol):
    """A way that is ready to run."""

    @property
    def start_s(self) -> float:
        """Seconds that building, tracing and the first step have taken."""

    def step_s(self) -> float:
        """Runs a few steps; seconds of one."""


@dataclass(frozen=True)
class SearchResult:
    """What a search has found out: timings of the variants that were run, the seconds it took
    without the first way's start, which is no loss, and the ways for which the budget was too
    small, with the seconds that were left for each.
    """

    timings: Mapping[Variant, Timing]
    spent_s: float
    skipped: Mapping[Variant, float]


def search(
    variants: Sequence[Variant],
    start: Callable[[Variant], Contender],
    *,
    steps: int,
    on_progress: Callable[[Variant, float], None],
    on_result: Callable[[SearchResult], None] = lambda _result: None,
    clock: Callable[[], float] = time.monotonic,
) -> SearchResult:
    """Measures the variants one after another against the first, which is expected to win.

    Turns are taken, and the shortest time counts: what else the computer does disturbs all
    alike, and only ever upwards.

    Args:
        variants: The most promising first.
        start: Builds a way and runs its first step.
        steps: Steps of the whole run; budget and decision depend on it.
        on_progress: Called before each variant with it and the fraction of the budget spent.
        on_result: Called after each race with what is found out by then.
        clock: Seconds.
    """
    on_progress(variants[0], 0.0)
    first = start(variants[0])
    began = clock()
    shortest = {variants[0]: min(first.step_s() for _ in range(2))}
    starts = {variants[0]: first.start_s}
    budget = budget_s(steps, shortest[variants[0]])
    skipped = {}
    for variant in variants[1:]:
        spent = clock() - began
        if spent + expected_s(variant, first.start_s, shortest[variants[0]]) > budget:
            skipped[variant] = max(0.0, budget - spent)
            continue
        on_progress(variant, spent / budget)
        racer = start(variant)
        starts[variant] = racer.start_s
        shortest[variant] = racer.step_s()
        for _ in range(_ROUNDS - 1):
            best = min(shortest.values())
            if shortest[variant] > LOST * best or clock() - began > budget:
                break
            shortest[variants[0]] = min(shortest[variants[0]], first.step_s())
            if shortest[variants[0]] > LOST * shortest[variant]:
                break
            shortest[variant] = min(shortest[variant], racer.step_s())
        on_result(_result(shortest, starts, clock() - began, skipped))
    return _result(shortest, starts, clock() - began, skipped)


def _result(
    shortest: Mapping[Variant, float],
    starts: Mapping[Variant, float],
    spent_s: float,
    skipped: Mapping[Variant, float],
) -> SearchResult:
    timings = {variant: Timing(shortest[variant], starts[variant]) for variant in shortest}
    return SearchResult(timings, spent_s, dict(skipped))


def budget_s(steps: int, step_s: float) -> float:
    """Seconds that may be spent on choosing how to run so many steps of about `step_s`."""
    return min(LONGEST_S, LARGEST_SHARE * steps * step_s)


def expected_s(variant: Variant, start_s: float, step_s: float) -> float:
    """A guess at what looking at a way costs."""
    return start_s * (_XLA_START if variant.xla else 1.0) + 2 * _SLOWER * step_s
