"""RMSprop (Hinton, 2012)."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(
    key="rmsprop",
    title="RMSprop",
    order=50,
    slots=2,
    uses=("momentum",),
)
