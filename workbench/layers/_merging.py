"""What the merge layers share. Not a plug-in itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from workbench.core.params import Params
from workbench.core.specs import Shape, ShapeProblem


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


def merge_shape(title: str) -> Callable[[Params, Sequence[Shape]], Shape]:
    """`infer_shape` of a layer that combines its inputs value by value."""

    def infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
        shape = inputs[0]
        for other in inputs[1:]:
            shape = broadcast(title, shape, other)
        return shape

    return infer_shape


def count_products(params: Params, inputs: Sequence[Shape], output: Shape) -> int:
    """One operation per output value and further input."""
    return math.prod(output) * (len(inputs) - 1)
