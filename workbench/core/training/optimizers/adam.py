"""Adam (Kingma and Ba, 2014)."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(
    key="adam",
    title="Adam",
    help="Adam is a good default",
    order=20,
    slots=2,
)
