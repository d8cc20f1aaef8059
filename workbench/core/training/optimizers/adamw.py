"""AdamW: Adam with decoupled weight decay (Loshchilov and Hutter, 2017)."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(
    key="adamw",
    title="AdamW",
    order=30,
    slots=2,
    default_decay=0.004,
)
