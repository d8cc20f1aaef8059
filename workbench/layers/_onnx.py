"""The rules of several layer types for ONNX. Not a plug-in itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.core.params import Params
from workbench.core.specs.layer import Array, OnnxLayer, OnnxValue, WriteOnnx

Rule = Callable[[OnnxLayer, OnnxValue], OnnxValue]


def number(value: float) -> Array:
    """One number as a constant."""
    return np.array(value, np.float32)


# windows -----------------------------------------------------------------------------------


def window(params: Params, shape: Sequence[int], size: Sequence[int]) -> dict[str, Any]:
    """Attributes of a window of a size: its steps, and the border as TensorFlow has it, where the
    larger half is at the end.
    """
    strides = [*params["strides"]]
    dilation = [*params.get("dilation_rate", (1, 1))]
    pads = [0, 0, 0, 0]
    if params["padding"] == "same":
        for axis in (0, 1):
            reach = (size[axis] - 1) * dilation[axis] + 1
            steps = -(-shape[axis] // strides[axis])
            border = max(0, (steps - 1) * strides[axis] + reach - shape[axis])
            pads[axis], pads[axis + 2] = border // 2, border - border // 2
    return {"kernel_shape": [*size], "strides": strides, "pads": pads, "dilations": dilation}


def convolve(
    layer: OnnxLayer, value: OnnxValue, kernel: Array, bias: Array | None, groups: int
) -> str:
    """A convolution by a kernel (height, width, inputs of a group, filters) with the layer's
    window; its tensor has the channels first.
    """
    attributes = window(layer.params, value.shape, kernel.shape[:2])
    weights = np.ascontiguousarray(kernel.transpose(3, 2, 0, 1))
    more = [] if bias is None else [bias]
    return layer.op("Conv", layer.first(value), weights, *more, group=groups, **attributes)


def depthwise(layer: OnnxLayer, kernel: Array, bias: Array | None) -> str:
    """A convolution of each channel by filters of its own: (height, width, channels, filters)."""
    height, width, channels, filters = kernel.shape
    flat = kernel.reshape(height, width, 1, channels * filters)
    return convolve(layer, layer.inputs[0], flat, bias, channels)


def affine_weights(layer: OnnxLayer) -> tuple[Array | None, Array | None]:
    """Learned scale and offset of the channels; None where it has none."""
    params = layer.params
    gamma = layer.weight("gamma") if params["scale"] else None
    return gamma, layer.weight("beta") if params["center"] else None


def bias_of(layer: OnnxLayer) -> Array | None:
    """The layer's bias, if it has one."""
    return layer.weight("bias") if layer.params["use_bias"] else None


def activated(layer: OnnxLayer, name: str, *, is_channels_first: bool = True) -> OnnxValue:
    """A tensor after the layer's own activation, as its output."""
    out = layer.out(name, is_channels_first=is_channels_first)
    return activate(layer, out, layer.params["activation"])


def pooling(kind: str) -> WriteOnnx:
    """The rule of a pooling operator."""

    def write(layer: OnnxLayer) -> OnnxValue:
        (value,) = layer.inputs
        sizes = zip(layer.params["strides"], layer.params["pool_size"], strict=True)
        params = {**layer.params, "strides": [stride or size for stride, size in sizes]}
        attributes = window(params, value.shape, params["pool_size"])
        del attributes["dilations"]
        return layer.out(layer.op(kind, layer.first(value), **attributes), is_channels_first=True)

    return write


def global_pooling(kind: str) -> WriteOnnx:
    """The rule of a pooling operator over the whole image."""

    def write(layer: OnnxLayer) -> OnnxValue:
        pooled = layer.op(kind, layer.first(layer.inputs[0]))
        if layer.params["keepdims"]:
            return layer.out(pooled, is_channels_first=True)
        return layer.out(layer.op("Flatten", pooled, axis=1))

    return write


# values ------------------------------------------------------------------------------------


def merging(kind: str, *, is_mean: bool = False) -> WriteOnnx:
    """The rule of an operator between all inputs, number by number."""

    def write(layer: OnnxLayer) -> OnnxValue:
        is_first, names = alike(layer, layer.inputs)
        merged = names[0]
        for name in names[1:]:
            merged = layer.op(kind, merged, name)
        if is_mean:
            merged = layer.op("Div", merged, number(len(names)))
        return layer.out(merged, is_channels_first=is_first)

    return write


def alike(layer: OnnxLayer, values: Sequence[OnnxValue]) -> tuple[bool, list[str]]:
    """Tensors of the same axes: channels first where all are images and one of them has them first.
    One with fewer axes gets axes of 1 behind the batch, as in Keras.
    """
    rank = max(len(value.shape) for value in values)
    are_images = all(len(value.shape) == 3 for value in values)
    if are_images and any(value.is_channels_first for value in values):
        return True, [layer.first(value) for value in values]
    names = []
    for value in values:
        name = layer.last(value)
        if len(value.shape) < rank:
            ones = [1] * (rank - len(value.shape))
            name = layer.op("Reshape", name, np.array([-1, *ones, *value.shape], np.int64))
        names.append(name)
    return False, names


def affine(
    layer: OnnxLayer, value: OnnxValue, scale: Array | None, offset: Array | None
) -> OnnxValue:
    """A value times and plus numbers of its channels."""
    if scale is not None:
        value = layer.mapped("Mul", value, layer.by_channel(scale, value))
    if offset is not None:
        value = layer.mapped("Add", value, layer.by_channel(offset, value))
    return value


# activations -------------------------------------------------------------------------------


def activation(layer: OnnxLayer) -> OnnxValue:
    """The rule of a layer that is an activation."""
    return activate(layer, layer.inputs[0], layer.params["activation"])


def activate(layer: OnnxLayer, value: OnnxValue, name: str) -> OnnxValue:
    """A value after one of Keras's activations."""
    return _ACTIVATIONS[name](layer, value)


def softmax(layer: OnnxLayer, value: OnnxValue) -> OnnxValue:
    """Probabilities along the channels."""
    return layer.mapped("Softmax", value, axis=value.channel_axis)


def clipped(layer: OnnxLayer, value: OnnxValue, low: float, high: float) -> OnnxValue:
    """A value within bounds."""
    return layer.mapped("Clip", value, number(low), number(high))


def _mapped(kind: str, **attributes: Any) -> Rule:
    return lambda layer, value: layer.mapped(kind, value, **attributes)


def _times(kind: str, **attributes: Any) -> Rule:
    """X times a function of x."""
    return lambda layer, x: layer.mapped("Mul", x, layer.mapped(kind, x, **attributes))


def _gelu(layer: OnnxLayer, x: OnnxValue) -> OnnxValue:
    inner = layer.mapped("Erf", layer.mapped("Mul", x, number(math.sqrt(0.5))))
    half = layer.mapped("Mul", x, number(0.5))
    return layer.mapped("Mul", half, layer.mapped("Add", inner, number(1)))


def _celu(layer: OnnxLayer, x: OnnxValue) -> OnnxValue:
    return layer.mapped("Celu", x, alpha=1.0)


def _log_sigmoid(layer: OnnxLayer, x: OnnxValue) -> OnnxValue:
    return layer.mapped("Neg", layer.mapped("Softplus", layer.mapped("Neg", x)))


def _mish(layer: OnnxLayer, x: OnnxValue) -> OnnxValue:
    return layer.mapped("Mul", x, layer.mapped("Tanh", layer.mapped("Softplus", x)))


def _half_of_next(layer: OnnxLayer, x: OnnxValue) -> OnnxValue:
    """(x + 1) / 2 from -1 to 1, and 0 and 1 beyond."""
    raised = layer.mapped("Mul", layer.mapped("Add", x, number(1)), number(0.5))
    return clipped(layer, raised, 0, 1)


def _sparse_plus(layer: OnnxLayer, x: OnnxValue) -> OnnxValue:
    """((x + 1) / 2) squared from -1 to 1, 0 below, x above."""
    half = _half_of_next(layer, x)
    above = layer.mapped("Relu", layer.mapped("Sub", x, number(1)))
    return layer.mapped("Add", layer.mapped("Mul", half, half), above)


def _squareplus(layer: OnnxLayer, x: OnnxValue) -> OnnxValue:
    inner = layer.mapped("Add", layer.mapped("Mul", x, x), number(4))
    root = layer.mapped("Sqrt", inner)
    return layer.mapped("Mul", layer.mapped("Add", x, root), number(0.5))


def _sparsemax(layer: OnnxLayer, value: OnnxValue) -> OnnxValue:
    """Sparsemax as Keras 3.15 computes it: its threshold adds the running sums of all numbers above
    it, where Martins and Astudillo (2016) take the last of them.
    """
    x, length = layer.last(value), value.shape[-1]
    ordered = layer.op("TopK", x, np.array([length], np.int64), num_outputs=2, axis=-1)
    sums = layer.op("CumSum", ordered, np.array(-1, np.int64))
    ranks = np.arange(1, length + 1, dtype=np.float32)
    bound = layer.op("Div", layer.op("Sub", sums, number(1)), ranks)
    is_in = layer.op("Cast", layer.op("Greater", layer.op("Sub", ordered, bound), number(0)), to=1)
    axes = np.array([-1], np.int64)
    size = layer.op("ReduceSum", is_in, axes, keepdims=1)
    total = layer.op("ReduceSum", layer.op("Mul", sums, is_in), axes, keepdims=1)
    threshold = layer.op("Div", layer.op("Sub", total, number(1)), size)
    return OnnxValue(layer.op("Relu", layer.op("Sub", x, threshold)), value.shape)


_ACTIVATIONS: dict[str, Rule] = {
    "linear": lambda layer, value: value,
    "relu": _mapped("Relu"),
    "softmax": softmax,
    "sigmoid": _mapped("Sigmoid"),
    "tanh": _mapped("Tanh"),
    "gelu": _gelu,
    "silu": _times("Sigmoid"),
    "elu": _mapped("Elu", alpha=1.0),
    "selu": _mapped("Selu"),
    "leaky_relu": _mapped("LeakyRelu", alpha=0.2),
    "relu6": lambda layer, value: clipped(layer, value, 0, 6),
    "celu": _celu,
    "exponential": _mapped("Exp"),
    "hard_shrink": _mapped("Shrink", lambd=0.5, bias=0.0),
    "hard_sigmoid": _mapped("HardSigmoid", alpha=1 / 6, beta=0.5),
    "hard_silu": _times("HardSigmoid", alpha=1 / 6, beta=0.5),
    "hard_tanh": lambda layer, value: clipped(layer, value, -1, 1),
    "log_sigmoid": _log_sigmoid,
    "log_softmax": lambda layer, x: layer.mapped("LogSoftmax", x, axis=x.channel_axis),
    "mish": _mish,
    "soft_shrink": _mapped("Shrink", lambd=0.5, bias=0.5),
    "softplus": _mapped("Softplus"),
    "softsign": _mapped("Softsign"),
    "sparse_plus": _sparse_plus,
    "sparse_sigmoid": _half_of_next,
    "sparsemax": _sparsemax,
    "squareplus": _squareplus,
    "tanh_shrink": lambda layer, x: layer.mapped("Sub", x, layer.mapped("Tanh", x)),
}
