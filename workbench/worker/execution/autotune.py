"""Benchmarks a few execution variants against each other within a budget of seconds."""

from __future__ import annotations

import hashlib
import math
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import msgspec

from workbench.core.checks.analysis import analyse
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import graph_to_plain
from workbench.core.storage.foreign_file import SMALL_BYTES, read_foreign
from workbench.core.storage.own_file import refuse_link
from workbench.core.storage.save import save_with_folder
from workbench.errors import SaveError
from workbench.layers import all_layers
from workbench.runs.home import cache_home
from workbench.targets.this_computer import computes_bfloat16, cpu_flags, cpu_model, num_cores
from workbench.worker.process.setup import versions
from workbench.worker.step.trainable import Timing, Variant

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


# plan cache ----------------------------------------------------------------------------------
# What was measured, kept for the next run of the same network on the same machine.
#
# One small file for each network. It is a cache: lost or damaged, the ways are measured again.

_MOST_FILES = 500

_CLEARLY_MORE = 1.5
"""A way that was too long to measure is tried again when so many times the seconds are there."""

_COUNTING = (
    "optimizer",
    "loss",
    "clip_norm",
    "ema_decay",
    "mixing",
    "weight_decay",
    "threads",
    "sync_batch_norm",
)
"""What of a recipe changes the time of a step; the batch size is a part of the key of its own."""


@dataclass(frozen=True)
class Known:
    """What is known of the ways to run one network here: those measured, and those skipped, with
    the budget in seconds that was too small for them.
    """

    timings: Mapping[Variant, Timing] = field(default_factory=dict)
    skipped: Mapping[Variant, float] = field(default_factory=dict)

    def to_measure(self, variants: Sequence[Variant], steps: int) -> tuple[Variant, ...]:
        """Variants that a run of so many steps should race against the first of them: all where the
        first is not known, else those never tried, or tried with clearly less time, as far as last
        time's answer says that there is time for them: a race of the first alone would take seconds
        and decide nothing.
        """
        first = self.timings.get(variants[0])
        if first is None:
            return tuple(variants[1:])
        today_s = budget_s(steps, first.step_s)
        left_s = today_s - 2 * first.step_s  # it takes part itself
        return tuple(
            variant
            for variant in variants[1:]
            if variant not in self.timings
            and today_s > _CLEARLY_MORE * self.skipped.get(variant, 0.0)
            and left_s >= expected_s(variant, first.start_s, first.step_s)
        )

    def with_search(self, result: SearchResult) -> Known:
        """Together with what was measured now.

        Earlier timings are brought to the pace of today, by the variants measured
        both times: the computer may have been busier then.
        """
        both = [variant for variant in result.timings if variant in self.timings]
        pace = 1.0
        if both:
            pace = result.timings[both[0]].step_s / max(self.timings[both[0]].step_s, 1e-9)
        earlier = {
            variant: Timing(t.step_s * pace, t.start_s) for variant, t in self.timings.items()
        }
        timings = {**earlier, **result.timings}
        skipped = {**self.skipped, **result.skipped}
        return Known(
            timings, {variant: s for variant, s in skipped.items() if variant not in timings}
        )


class _Measured(msgspec.Struct, frozen=True):
    precision: str
    xla: bool
    step_s: float
    start_s: float


class _Skipped(msgspec.Struct, frozen=True):
    precision: str
    xla: bool
    left_s: float


class Likeness(msgspec.Struct, frozen=True):
    """Features by which a similar network that was benchmarked is found.

    Attributes:
        group: A name for what similar ones have in common: the computer, the versions, and the
            kinds of layers that compute most.
        work: Multiply-adds of a step, forward alone.
    """

    group: str
    work: float


class _File(msgspec.Struct, frozen=True):
    measured: list[_Measured]
    skipped: list[_Skipped]
    likeness: Likeness | None = None


_decoder = msgspec.json.Decoder(_File)


def plan_key(project: Project, batch_size: int) -> str:
    """A name for everything that the time of a step depends on: graph, batch, recipe, machine,
    versions.
    """
    return name_of(
        {
            "graph": graph_to_plain(project.graph),
            "batch_size": batch_size,
            "recipe": {key: getattr(project.recipe, key) for key in _COUNTING},
            **circumstances(project),
        }
    )


def circumstances(project: Project) -> dict[str, Any]:
    """What the time of a step depends on beside network and recipe: machine and versions."""
    return {
        "target": [project.target.key, dict(project.target.params)],
        "machine": [platform.machine(), cpu_model(), num_cores(), sorted(cpu_flags())],
        "bfloat16": computes_bfloat16(),
        "versions": versions(),
    }


def name_of(values: Mapping[str, Any]) -> str:
    """A short name for some values, the same for equal ones alone."""
    return hashlib.sha256(msgspec.json.encode(values, order="sorted")).hexdigest()[:32]


def read_known(key: str, home: Path | None = None) -> Known:
    """What was measured; nothing where nothing was, or nothing that can be read."""
    return _read((home or cache_home() / "plans") / f"{key}.json")[0]


def read_all_known(group: str, home: Path | None = None) -> list[tuple[float, Known]]:
    """What was measured on the networks of a group of similar ones, with the work of each."""
    found = map(_read, sorted((home or cache_home() / "plans").glob("*.json")))
    return [(alike.work, known) for known, alike in found if alike and alike.group == group]


def _read(path: Path) -> tuple[Known, Likeness | None]:
    try:
        file = _decoder.decode(read_foreign(path, SMALL_BYTES))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Known(), None
    known = Known(
        {Variant(row.precision, row.xla): Timing(row.step_s, row.start_s) for row in file.measured},
        {Variant(row.precision, row.xla): row.left_s for row in file.skipped},
    )
    return known, file.likeness


def keep_known(
    key: str, known: Known, home: Path | None = None, *, likeness: Likeness | None = None
) -> None:
    """Keeps measurements in place of those of the same key; drops the oldest files.

    A full disk is no reason to stop a training: then nothing is kept.
    """
    home = home or cache_home() / "plans"
    file = _File(
        [_Measured(w.precision, w.xla, t.step_s, t.start_s) for w, t in known.timings.items()],
        [_Skipped(variant.precision, variant.xla, s) for variant, s in known.skipped.items()],
        likeness,
    )
    try:
        refuse_link(home)
        save_with_folder(home / f"{key}.json", msgspec.json.encode(file))
        _forget_oldest(home)
    except (OSError, SaveError):
        return


def _forget_oldest(home: Path) -> None:
    files = sorted(home.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[_MOST_FILES:]:
        path.unlink(missing_ok=True)


# similar -------------------------------------------------------------------------------------
# What was measured here on a similar network: a training of another one begins with that answer.
#
# Networks are similar whose multiply-adds are in the same kinds of layers, of about as many in a
# step. Which way to run wins by far is the same for both then; what was close is measured again.

_LARGE_SHARE = 0.1
"""Kinds of layers with less of the multiply-adds do not decide which way is fastest."""

_MOST_WORK = 4.0
"""The work of similar networks differs at most so many times: with a tenth of it, what is beside
the multiply-adds counts more."""


def likeness_of(project: Project, batch_size: int) -> Likeness:
    """What a network is compared with others by."""
    costs = analyse(project.graph, all_layers(), recipe=project.recipe).costs
    shares: dict[str, float] = {}
    for node, cost in costs.nodes.items():
        kind = project.graph.nodes[node].kind
        shares[kind] = shares.get(kind, 0.0) + cost.multiply_adds / max(1, costs.multiply_adds)
    kinds = sorted(kind for kind, share in shares.items() if share >= _LARGE_SHARE)
    group = name_of({"kinds": kinds, "threads": project.recipe.threads, **circumstances(project)})
    return Likeness(group, float(costs.multiply_adds * batch_size))


def read_similar(likeness: Likeness, first: Variant, home: Path | None = None) -> Known:
    """What is expected by the most similar network on which the variant `first` was measured;
    nothing where there is none.

    Step times are brought to this network's work. A way that was neither far slower nor far
    faster than the first is left out.
    """
    found = [
        (_distance(work, likeness.work), work, known)
        for work, known in read_all_known(likeness.group, home)
        if first in known.timings and _distance(work, likeness.work) <= math.log(_MOST_WORK)
    ]
    if not found:
        return Known()
    _, work, known = min(found, key=lambda each: each[0])
    scale, best = likeness.work / max(work, 1.0), known.timings[first].step_s
    timings = {
        variant: Timing(timing.step_s * scale, timing.start_s)
        for variant, timing in known.timings.items()
        if variant == first or not 1 / LOST < timing.step_s / max(best, 1e-9) < LOST
    }
    return Known(timings, known.skipped)


def _distance(work: float, other: float) -> float:
    return abs(math.log(max(work, 1.0) / max(other, 1.0)))
