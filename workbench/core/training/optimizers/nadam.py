"""Nadam: Adam with Nesterov momentum (Dozat, 2016)."""

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(
    key="nadam",
    title="Nadam",
    order=40,
    slots=2,
)
