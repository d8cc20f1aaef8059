"""Stochastic gradient descent, with momentum or without."""

from __future__ import annotations

from workbench.core.training.specs import HighRate, OptimizerSpec

SPEC = OptimizerSpec(
    key="sgd",
    title="SGD",
    order=10,
    slots=1,
    uses=("momentum", "nesterov"),
    rate_scaling="linear",
    high_rate=HighRate(
        above=10.0,
        suggested=0.05,
        reason="A step is the learning rate times the gradient: with normalized layers rates up to "
        "about 1 train, and from there on the loss diverges.",
    ),
)
