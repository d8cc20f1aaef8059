"""What was measured here on a similar network: a training of another one begins with that answer.

Networks are similar whose multiply-adds are in the same kinds of layers, of about as many in a
step. Which way to run wins by far is the same for both then; what was close is measured again.
"""

from __future__ import annotations

import math
from pathlib import Path

from workbench.core.checks.analysis import analyse
from workbench.core.projects.project import Project
from workbench.layers import all_layers
from workbench.worker.execution.autotune import LOST
from workbench.worker.execution.plan_cache import (
    Known,
    Likeness,
    circumstances,
    name_of,
    read_all_known,
)
from workbench.worker.step.variants import Timing, Variant

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
