"""Add: the sum of its inputs."""

from __future__ import annotations

from workbench.layers._common import merge_layer
from workbench.layers._onnx import merging

SPEC = merge_layer(
    key="add",
    title="Add",
    summary="Adds its inputs element by element, as at the end of a residual block.",
    common_rank=10,
    keywords=("merge", "sum", "residual", "skip", "plus"),
    onnx=merging("Add"),
)
