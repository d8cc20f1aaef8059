"""Hardly any gradient reaches the first layers, and nothing is learned."""

from __future__ import annotations

import math
from statistics import median

import numpy as np

from workbench.core.coach import Change, CoachSpec, Diagnosis, Evidence, LayerState, RunRecord
from workbench.core.format import count, number_text
from workbench.core.specs import ACTIVATION, RELU

_FEWEST_LAYERS = 4
_SHARE = 1e-3
"""Ratio of the first layer's relative gradient to that of the last ones, below which it vanishes;
in a healthy network all are of the same size."""

_EPOCHS = 3
_STUCK = 0.9
"""Share of the loss of guessing above which hardly anything has been learned."""

_SATURATING = frozenset({"sigmoid", "tanh", "hard_sigmoid", "softsign"})
"""Keras's names of activations whose slope goes to zero on both sides."""


def _look(record: RunRecord) -> Diagnosis | None:
    last = record.last
    layers = [each for each in (last.layers if last else ()) if math.isfinite(each.gradient)]
    if len(layers) < _FEWEST_LAYERS or len(record.epochs) < _EPOCHS:
        return None
    first, end = layers[0], median(layer.gradient for layer in layers[-2:])
    is_stuck = not np.nanmin(record.loss) < _STUCK * record.guessing
    if not is_stuck or end <= 0.0 or first.gradient > _SHARE * end:
        return None
    change = _change(record, layers)
    return Diagnosis(
        observation=f"The gradient of “{record.name_of(first.node)}” is "
        f"{first.gradient / end:.0e} times "
        f"that of the last of {count(len(layers))} layers: the first layers learn nothing.",
        recommendation="ReLU lets the gradient through where sigmoid and tanh do not; so do "
        "BatchNormalization "
        "and skip connections.",
        evidence=Evidence(
            (
                ("Gradient, first layer", f"{first.gradient:.1e}"),
                ("Gradient, last layers", f"{end:.1e}"),
                ("Training loss, last epoch", number_text(float(record.loss[-1]))),
            ),
            curve="loss",
            first=1,
            last=int(record.epochs[-1]),
            node=first.node,
        ),
        change=change,
    )


def _change(record: RunRecord, layers: list[LayerState]) -> Change | None:
    """ReLU for all layers but the last that saturate."""
    nodes = record.graph.nodes if record.graph is not None else {}
    found = {
        layer.node: {ACTIVATION: RELU}
        for layer in layers[:-1]
        if layer.node in nodes and nodes[layer.node].params.get(ACTIVATION) in _SATURATING
    }
    return Change(layers=found) if found else None


SPEC = CoachSpec(
    key="vanishing_gradients",
    title="Vanishing gradients",
    order=45,
    watches="vanishing gradients",
    look=_look,
)
