"""Average: the mean of its inputs."""

from __future__ import annotations

from workbench.layers._merging import merge_layer

SPEC = merge_layer(
    key="average",
    title="Average",
    summary="Averages its inputs element by element.",
    keywords=("merge", "mean", "ensemble"),
)
