"""What the merge layers share. Not a plug-in itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

from workbench.core.params import Params
from workbench.core.specs import LayerSpec, Shape, ShapeProblem


def broadcast(title: str, first: Shape, second: Shape) -> Shape:
    """Shape of two inputs combined value by value; an axis of 1 is repeated, as in Keras.

    Raises:
        ShapeProblem: an axis differs and neither length is 1.
    """
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    offset = len(long) - len(short)
    shape = list(long)
    for axis, length in enumerate(short, start=offset):
        if shape[axis] == 1:
            shape[axis] = length
        elif length not in (1, shape[axis]):
            raise ShapeProblem(
                f"{title} needs inputs of the same shape",
                f"They are combined element by element: {_axis_words(axis, len(long))} must be "
                "equal, or 1.",
                ("match_inputs:dense,conv2d",),
            )
    return tuple(shape)


def _axis_words(axis: int, rank: int) -> str:
    if rank == 3:
        return ("the heights", "the widths", "the numbers of channels")[axis]
    return "the lengths" if rank == 1 else f"the lengths on axis {axis + 1}"


def merge_layer(*, title: str, **more: Any) -> LayerSpec:
    """A layer type that combines its inputs value by value; arguments as of LayerSpec."""

    def infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
        return reduce(partial(broadcast, title), inputs)

    return LayerSpec(
        title=title,
        category="merge",
        infer_shape=infer_shape,
        # One operation per output value and further input.
        count_multiply_adds=lambda _, inputs, output: math.prod(output) * (len(inputs) - 1),
        min_inputs=2,
        **{"max_inputs": None, **more},
    )
