"""Maximum: the largest of its inputs."""

from __future__ import annotations

from workbench.layers._common import merge_layer
from workbench.layers._onnx import merging

SPEC = merge_layer(
    key="maximum",
    title="Maximum",
    summary="Keeps the largest of its inputs, element by element.",
    keywords=("merge", "max", "largest"),
    onnx=merging("Max"),
)
