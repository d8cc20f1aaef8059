"""LAMB: Adam with layer-wise rates (You et al., 2019)."""

from __future__ import annotations

from workbench.core.training.specs import OptimizerSpec

SPEC = OptimizerSpec(
    key="lamb",
    title="LAMB",
    class_name="Lamb",
    order=60,
    slots=2,
    has_layer_rates=True,
)
