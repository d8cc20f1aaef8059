"""Units that are zero on all images: no gradient flows through them to bring them back."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.coach._words import rate_change
from workbench.core.coach import (
    Change,
    CoachSpec,
    Diagnosis,
    Evidence,
    Measurement,
    RunRecord,
    UnitState,
)
from workbench.core.format import count, share
from workbench.core.network.graph import Node
from workbench.core.specs import ACTIVATION, LEAKY_RELU

_NEARLY_ALL = 0.8
"""Share of a layer's units: a healthy network may do without half of them."""

_MANY = 0.5
"""Share that is worth a word where the training no longer improves."""

_FEWEST = 4
_EPOCHS = 5
"""Epochs without a better training accuracy that count as no improvement."""

_LEARNED = 0.97
"""A training accuracy from which on little is left to learn."""

_LARGE_UPDATE = 0.01
"""Relative update of a step above which large steps are the likely cause."""


def _look(record: RunRecord) -> Diagnosis | None:
    last = record.last
    if last is None or not last.units:
        return None
    worst = max(last.units, key=lambda layer: layer.dead / max(1, layer.units))
    least = _MANY if _is_stuck(record) else _NEARLY_ALL
    if worst.dead < max(_FEWEST, least * worst.units):
        return None
    name = record.name_of(worst.node)
    dead = [each for each in last.units if each.dead >= max(_FEWEST, least * each.units)]
    others = len(dead) - 1
    more = f" ({count(others)} more layers are like it)" if others > 0 else ""
    return Diagnosis(
        observation=f"{count(worst.dead)} of {count(worst.units)} units of “{name}” are zero on "
        "all "
        f"{count(last.images)} images looked at{more}: they are dead and learn nothing.",
        recommendation="A lower learning rate keeps units alive, and LeakyReLU lets them come "
        "back.",
        evidence=Evidence(
            (
                ("Dead units", share(worst.dead / worst.units, 0)),
                ("Layer", name),
                ("Weight update per step, relative", share(last.update, 2)),
            ),
            curve="loss",
            first=last.epoch,
            last=last.epoch,
            node=worst.node,
        ),
        change=_change(record, last, dead),
    )


def _is_stuck(record: RunRecord) -> bool:
    """Whether the training accuracy no longer rises, though there is much left to learn."""
    accuracy = record.accuracy
    if len(accuracy) <= _EPOCHS or not np.isfinite(accuracy).all():
        return False
    highest = float(accuracy[:-_EPOCHS].max())
    return highest < _LEARNED and float(accuracy[-_EPOCHS:].max()) <= highest


def _change(record: RunRecord, last: Measurement, dead: list[UnitState]) -> Change | None:
    """A lower rate where steps are large, else an activation that is never flat."""
    nodes = record.graph.nodes if record.graph is not None else {}
    known = [nodes[each.node] for each in dead if each.node in nodes]
    if not known or last.update > _LARGE_UPDATE:
        return rate_change(record, 0.1)
    return Change(layers={node.id: _never_flat(node) for node in known})


def _never_flat(node: Node) -> dict[str, Any]:
    if ACTIVATION in node.params:
        return {ACTIVATION: LEAKY_RELU}
    return {"negative_slope": 0.1}


SPEC = CoachSpec(
    key="dead_units",
    title="Dead units",
    order=50,
    watches="dead units",
    look=_look,
)
