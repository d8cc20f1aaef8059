"""Muon: momentum made orthogonal, for matrices; AdamW for all other weights (Jordan, 2024)."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(
    key="muon",
    title="Muon",
    order=90,
    slots=1,
    decay_arguments=("weight_decay", "adam_weight_decay"),
    default_decay=0.004,
)
