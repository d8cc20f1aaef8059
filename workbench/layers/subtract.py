"""Subtract: its first input minus its second."""

from __future__ import annotations

from workbench.layers._merging import merge_layer

SPEC = merge_layer(
    key="subtract",
    title="Subtract",
    summary="Subtracts the second input from the first, element by element.",
    max_inputs=2,
    keywords=("merge", "difference", "minus"),
)
