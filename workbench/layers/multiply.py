"""Multiply: the product of its inputs."""

from __future__ import annotations

from workbench.layers._common import merge_layer
from workbench.layers._onnx import merging

SPEC = merge_layer(
    key="multiply",
    title="Multiply",
    summary="Multiplies its inputs element by element, as in gates and squeeze-and-excitation.",
    keywords=("merge", "product", "gate", "attention", "times"),
    onnx=merging("Mul"),
)
