"""Convolutions, dense layers and pooling: operators with a window that moves over an image."""

from __future__ import annotations

import math

import numpy as np

from workbench.exports._c.flat import NoCodeError, Operator, Tensor, multiplier, output_range
from workbench.exports._c.lowering import Network
from workbench.exports._c.program import Options, Patch, Table, int8, int32

_SAME = 0

_MOST_BYTES = 16_000_000
"""Size limit of a layer's weights. No microcontroller has so much, and compilers take 130 times as
much."""


def conv2d(network: Network, op: Operator) -> None:
    """CONV_2D, also with groups."""
    tensors, (image, kernel) = network.tensors, op.inputs[:2]
    depth, channels = tensors[kernel].shape[3], tensors[image].shape[3]
    source, groups = network.stored(image), channels // depth
    window = _window(op, tensors[image], tensors[op.outputs[0]], tensors[kernel].shape[1:3])
    weights, patch = _weights(network, op), Patch(math.prod(tensors[kernel].shape[1:]))
    arguments = (source, window, groups, weights, patch, network.new(op.outputs[0]))
    network.step("conv2d", *arguments, tensor=tensors[op.outputs[0]])


def depthwise_conv2d(network: Network, op: Operator) -> None:
    """DEPTHWISE_CONV_2D."""
    tensors, (image, kernel), (last,) = network.tensors, op.inputs[:2], op.outputs
    source = network.stored(image)
    window = _window(op, tensors[image], tensors[last], tensors[kernel].shape[1:3])
    arguments = (source, window, _weights(network, op), network.new(last))
    network.step("depthwise_conv2d", *arguments, tensor=tensors[last])


def transpose_conv(network: Network, op: Operator) -> None:
    """TRANSPOSE_CONV."""
    tensors, (last,) = network.tensors, op.outputs
    _, kernel, image, *bias = op.inputs
    source = network.stored(image)
    inner, outer = tensors[image], tensors[last]
    # Its padding is that of the convolution from the output to the input.
    sides = tensors[kernel].shape[1:3]
    strides = op.options["strideH"], op.options["strideW"]
    pads = [
        max(0, (-(-size // stride) - 1) * stride + side - size) // 2
        if op.options["padding"] == _SAME
        else 0
        for size, stride, side in zip(outer.shape[1:3], strides, sides, strict=True)
    ]
    fields = (*inner.shape[1:], *outer.shape[1:], *sides, *strides, 1, 1, *pads)
    ordered = Operator(op.kind, (image, kernel, *bias), op.outputs, op.options)
    arguments = (
        source,
        Options("window", fields),
        _weights(network, ordered),
        network.new(last),
    )
    network.step("transpose_conv", *arguments, tensor=outer)


def dense(network: Network, op: Operator) -> None:
    """FULLY_CONNECTED."""
    tensors, (image, kernel), (last,) = network.tensors, op.inputs[:2], op.outputs
    units, depth = tensors[kernel].shape
    source, rows = network.stored(image), tensors[image].size // depth
    arguments = (source, rows, depth, units, _weights(network, op), network.new(last))
    network.step("dense", *arguments, tensor=tensors[last])


def pool(network: Network, op: Operator) -> None:
    """MAX_POOL_2D and AVERAGE_POOL_2D."""
    (image,), (last,), options = op.inputs, op.outputs, op.options
    inner, outer = network.tensors[image], network.tensors[last]
    source = network.rescaled(image, outer)
    window = _window(op, inner, outer, (options["filterHeight"], options["filterWidth"]))
    kernel = "max_pool" if op.kind == "MAX_POOL_2D" else "average_pool"
    arguments = (source, window, *output_range(options, outer), network.new(last))
    network.step(kernel, *arguments, tensor=outer)


def _window(op: Operator, inner: Tensor, outer: Tensor, sides: tuple[int, ...]) -> Options:
    options = op.options
    strides = options["strideH"], options["strideW"]
    dilations = options.get("dilationHFactor", 1), options.get("dilationWFactor", 1)
    pads = [
        max(0, (after - 1) * stride + (side - 1) * dilation + 1 - before) // 2
        if options["padding"] == _SAME
        else 0
        for before, after, stride, side, dilation in zip(
            inner.shape[1:3], outer.shape[1:3], strides, sides, dilations, strict=True
        )
    ]
    return Options(
        "window", (*inner.shape[1:], *outer.shape[1:], *sides, *strides, *dilations, *pads)
    )


def _weights(network: Network, op: Operator) -> Options:
    """Kernel, bias, and what brings the sums to the scale of the output."""
    image, kernel, *rest = op.inputs
    inner, weights, outer = (network.tensors[index] for index in (image, kernel, op.outputs[0]))
    numbers = network.numbers(kernel)
    if weights.dtype != np.int8 or weights.zero:
        raise NoCodeError(f"weights of type {weights.dtype}", outer)
    if numbers.nbytes > _MOST_BYTES:
        raise NoCodeError(
            f"{numbers.nbytes:,} bytes of weights, and at most {_MOST_BYTES:,} in C", outer
        )
    channels = outer.shape[-1]
    has_bias = bool(rest) and rest[0] >= 0
    bias = network.numbers(rest[0]) if has_bias else np.zeros(channels, np.int32)
    if bias.dtype != np.int32:
        raise NoCodeError(f"a bias of type {bias.dtype}", outer)
    factors = np.broadcast_to(inner.scale * weights.scales / outer.scale, (channels,))
    found = [multiplier(float(factor), outer) for factor in factors]
    multiplier_table = int32([each for each, _ in found])
    shifts = Table("int8_t", np.array([shift for _, shift in found], np.int8))
    limits = output_range(op.options, outer)
    fields = (int8(numbers), int32(bias), multiplier_table, shifts, inner.zero, outer.zero, *limits)
    return Options("weights", fields)


KERNELS = {
    "AVERAGE_POOL_2D": pool,
    "CONV_2D": conv2d,
    "DEPTHWISE_CONV_2D": depthwise_conv2d,
    "FULLY_CONNECTED": dense,
    "MAX_POOL_2D": pool,
    "TRANSPOSE_CONV": transpose_conv,
}
