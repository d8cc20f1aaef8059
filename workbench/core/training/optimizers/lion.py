"""Lion (Chen et al., 2023)."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(
    key="lion",
    title="Lion",
    order=70,
    slots=1,
)
