"""Multiply: the product of its inputs."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.layers._merging import count_products, merge_shape

SPEC = LayerSpec(
    key="multiply",
    title="Multiply",
    category="merge",
    summary="Multiplies its inputs element by element, as in gates and squeeze-and-excitation.",
    infer_shape=merge_shape("Multiply"),
    count_multiply_adds=count_products,
    min_inputs=2,
    max_inputs=None,
    keywords=("merge", "product", "gate", "attention", "times"),
)
