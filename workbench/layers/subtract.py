"""Subtract: its first input minus its second."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.layers._merging import count_products, merge_shape

SPEC = LayerSpec(
    key="subtract",
    title="Subtract",
    category="merge",
    summary="Subtracts the second input from the first, element by element.",
    infer_shape=merge_shape("Subtract"),
    count_multiply_adds=count_products,
    min_inputs=2,
    max_inputs=2,
    keywords=("merge", "difference", "minus"),
)
