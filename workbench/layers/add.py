"""Add: the sum of its inputs."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.layers._merging import count_products, merge_shape

SPEC = LayerSpec(
    key="add",
    title="Add",
    category="merge",
    summary="Adds its inputs element by element, as at the end of a residual block.",
    infer_shape=merge_shape("Add"),
    count_multiply_adds=count_products,
    min_inputs=2,
    max_inputs=None,
    common_rank=10,
    keywords=("merge", "sum", "residual", "skip", "plus"),
)
