"""Average: the mean of its inputs."""

from __future__ import annotations

from workbench.layers._common import merge_layer
from workbench.layers._onnx import merging

SPEC = merge_layer(
    key="average",
    title="Average",
    summary="Averages its inputs element by element.",
    keywords=("merge", "mean", "ensemble"),
    onnx=merging("Add", is_mean=True),
)
