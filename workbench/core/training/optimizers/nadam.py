"""Nadam: Adam with Nesterov momentum (Dozat, 2016)."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(
    key="nadam",
    title="Nadam",
    order=40,
    slots=2,
)
