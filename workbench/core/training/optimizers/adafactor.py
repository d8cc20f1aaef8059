"""Adafactor: second moments by row and column (Shazeer and Stern, 2018)."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(
    key="adafactor",
    title="Adafactor",
    order=80,
    slots=1,
    arguments=lambda values: {"relative_step": False},  # the learning rate is the schedule's
)
