"""Subtract: its first input minus its second."""

from __future__ import annotations

from workbench.layers._common import merge_layer
from workbench.layers._onnx import merging

SPEC = merge_layer(
    key="subtract",
    title="Subtract",
    summary="Subtracts the second input from the first, element by element.",
    max_inputs=2,
    keywords=("merge", "difference", "minus"),
    onnx=merging("Sub"),
)
