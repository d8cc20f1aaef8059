"""Operators of two tensors, reductions and softmax."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.exports._c.flat import (
    LEAST,
    MOST,
    NoCodeError,
    Operator,
    Tensor,
    multiplier,
    multipliers,
    output_range,
)
from workbench.exports._c.lowering import Network
from workbench.exports._c.program import Buffer, Options, Table, blank, int8, int32, merged

_ONE = 1 << 23
"""An exponential of 0 in the table of softmax."""

_GAP_BITS = 24
"""Bits of a difference before it is squared; the kernel drops 10 of them."""


def combine(network: Network, op: Operator) -> None:
    """ADD, SUB, MUL, MAXIMUM, MINIMUM, SQUARED_DIFFERENCE, PRELU."""
    tensors, (last,) = network.tensors, op.outputs
    a, b, output = tensors[op.inputs[0]], tensors[op.inputs[1]], tensors[last]
    is_same_scale = op.kind in ("MAXIMUM", "MINIMUM")
    sources = [_source(network, index, output if is_same_scale else None) for index in op.inputs]
    views = [np.broadcast_to(blank(each.shape), output.shape).strides for each in (a, b)]
    axes = merged(output.shape, *views, count=4, tensor=output)
    numbers = _SCALES[op.kind](op, a, b, output)
    first = sources[0]
    shares = first if isinstance(first, Buffer) and a.size == output.size else None
    network.step(
        "combine",
        *sources,
        Options("pair", (*axes, a.zero, b.zero, *numbers)),
        _RULES[op.kind],
        network.new(last),
        tensor=output,
        shares=shares,
    )


def _source(network: Network, index: int, like: Tensor | None) -> Buffer | Table:
    tensor = network.tensors[index]
    if network.constant(index) is not None:
        numbers = network.numbers(index)
        if tensor.dtype != np.int8 or not tensor.is_quantized:
            raise NoCodeError(f"numbers of type {tensor.dtype}", tensor)
        if like is not None:
            numbers = like.numbers(tensor.real(numbers))
        return int8(numbers)
    return network.stored(index) if like is None else network.rescaled(index, like)


def _sum(op: Operator, a: Tensor, b: Tensor, output: Tensor) -> tuple[int, ...]:
    sign = -1 if op.kind == "SUB" else 1
    (of_a, of_b), shift = multipliers(
        [a.scale / output.scale, sign * b.scale / output.scale], output
    )
    return (of_a, of_b, 0, shift, output.zero, *output_range(op.options, output))


def _product(op: Operator, a: Tensor, b: Tensor, output: Tensor) -> tuple[int, ...]:
    factor, shift = multiplier(a.scale * b.scale / output.scale, output)
    return (0, 0, factor, shift, output.zero, *output_range(op.options, output))


def _extremum(op: Operator, _a: Tensor, _b: Tensor, output: Tensor) -> tuple[int, ...]:
    return (0, 0, 0, 0, 0, *output_range(op.options, output))


def _square(op: Operator, a: Tensor, b: Tensor, output: Tensor) -> tuple[int, ...]:
    largest = 255 * (a.scale + b.scale)
    unit = 2.0**_GAP_BITS / largest
    scale = 1024 / unit  # of the difference
    factor, shift = multiplier(scale * scale / output.scale, output)
    limits = output_range(op.options, output)
    return (round(a.scale * unit), round(b.scale * unit), factor, shift, output.zero, *limits)


def _prelu(op: Operator, a: Tensor, b: Tensor, output: Tensor) -> tuple[int, ...]:
    factors = [a.scale / output.scale, a.scale * b.scale / output.scale]
    (above, below), shift = multipliers(factors, output)
    return (above, below, 0, shift, output.zero, *output_range(op.options, output))


_RULES = {
    "ADD": "add",
    "MAXIMUM": "maximum",
    "MINIMUM": "minimum",
    "MUL": "multiply",
    "PRELU": "prelu",
    "SQUARED_DIFFERENCE": "squared_difference",
    "SUB": "add",
}
_SCALES = {
    "ADD": _sum,
    "MAXIMUM": _extremum,
    "MINIMUM": _extremum,
    "MUL": _product,
    "PRELU": _prelu,
    "SQUARED_DIFFERENCE": _square,
    "SUB": _sum,
}


def reduce(network: Network, op: Operator) -> None:
    """MEAN, SUM and REDUCE_MAX along some axes."""
    (image, which), (last,) = op.inputs, op.outputs
    tensor, output = network.tensors[image], network.tensors[last]
    reduced = {axis % len(tensor.shape) for axis in network.integers(which)}
    steps = blank(tensor.shape).strides
    fields: list[Any] = []
    for is_reduced in (False, True):
        axes = [axis for axis in range(len(steps)) if (axis in reduced) is is_reduced]
        shape, moves = [tensor.shape[axis] for axis in axes], [steps[axis] for axis in axes]
        fields += merged(shape, moves, count=3, tensor=output)
    options = Options("axes", tuple(fields))
    if op.kind == "REDUCE_MAX":
        source = network.rescaled(image, output)
        network.step("largest", source, options, network.new(last), tensor=output)
        return
    source, count = network.stored(image), tensor.size // output.size
    divisor = count if op.kind == "MEAN" else 1
    factor, shift = multiplier(tensor.scale / (output.scale * divisor), output)
    arguments = (source, options, count * tensor.zero, factor, shift, output.zero)
    network.step("sum", *arguments, network.new(last), tensor=output)


def softmax(network: Network, op: Operator) -> None:
    """SOFTMAX over the last axis."""
    (image,), (last,) = op.inputs, op.outputs
    tensor, output = network.tensors[image], network.tensors[last]
    source, depth = network.stored(image), tensor.shape[-1]
    step = op.options["beta"] * tensor.scale
    table = int32([round(_ONE * math.exp(-step * gap)) for gap in range(MOST - LEAST + 1)])
    arguments = (source, tensor.size // depth, depth, table, round(1 / output.scale), output.zero)
    network.step("softmax", *arguments, network.new(last), tensor=output)


KERNELS = {
    **dict.fromkeys(_RULES, combine),
    "MEAN": reduce,
    "REDUCE_MAX": reduce,
    "SOFTMAX": softmax,
    "SUM": reduce,
}
