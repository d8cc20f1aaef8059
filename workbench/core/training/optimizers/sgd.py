"""Stochastic gradient descent, with momentum or without."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(
    key="sgd",
    title="SGD",
    order=10,
    slots=1,
    uses=("momentum", "nesterov"),
    rate_scaling="linear",
)
