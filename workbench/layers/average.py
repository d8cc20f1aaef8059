"""Average: the mean of its inputs."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.layers._merging import count_products, merge_shape

SPEC = LayerSpec(
    key="average",
    title="Average",
    category="merge",
    summary="Averages its inputs element by element.",
    infer_shape=merge_shape("Average"),
    count_multiply_adds=count_products,
    min_inputs=2,
    max_inputs=None,
    keywords=("merge", "mean", "ensemble"),
)
