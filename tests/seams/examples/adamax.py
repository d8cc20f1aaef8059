"""Adamax: Adam with the largest gradient instead of a mean square (Kingma and Ba, 2014)."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(key="adamax", title="Adamax", slots=2)
