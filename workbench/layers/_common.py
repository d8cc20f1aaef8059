"""Parameters, checks and words that several layer types share. Not a plug-in itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from workbench.core.params import BoolParam, ChoiceParam, FloatParam, Param, Params
from workbench.core.specs import Shape, ShapeProblem, ValueRange

# Two are missing on purpose. "glu" halves the last axis, but Keras's symbolic shapes ignore
# that, so every layer behind it would be built with the wrong size. "threshold" cannot
# run by its name: it has two arguments without defaults.
ACTIVATIONS: tuple[str, ...] = (
    "linear",
    "relu",
    "softmax",
    "sigmoid",
    "tanh",
    "gelu",
    "silu",
    "elu",
    "selu",
    "leaky_relu",
    "relu6",
    "celu",
    "exponential",
    "hard_shrink",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "soft_shrink",
    "softplus",
    "softsign",
    "sparse_plus",
    "sparse_sigmoid",
    "sparsemax",
    "squareplus",
    "tanh_shrink",
)
"""Keras's activation functions by name, the common ones first."""

INITIALIZERS: tuple[str, ...] = (
    "glorot_uniform",
    "glorot_normal",
    "he_uniform",
    "he_normal",
    "lecun_uniform",
    "lecun_normal",
    "random_normal",
    "random_uniform",
    "truncated_normal",
    "variance_scaling",
    "orthogonal",
    "zeros",
    "ones",
)
"""Keras's initializers by name."""


def activation_param(default: str = "linear") -> ChoiceParam:
    """The activation a layer applies to its own output."""
    return ChoiceParam(
        "activation",
        default,
        "Function applied to every value of the output. relu is the usual choice inside a "
        "network, softmax at its end.",
        choices=ACTIVATIONS,
        titles={"linear": "none"},
    )


def initializer_param(key: str) -> ChoiceParam:
    """How a layer's kernel starts."""
    return ChoiceParam(
        key,
        "glorot_uniform",
        "How the weights are initialized. he_normal suits relu, glorot_uniform suits most others.",
        choices=INITIALIZERS,
        is_advanced=True,
    )


def vector_initializer_param(key: str, title: str, default: str = "zeros") -> ChoiceParam:
    """How a weight with one axis starts: "orthogonal" needs two."""
    choices = tuple(name for name in INITIALIZERS if name != "orthogonal")
    return replace(initializer_param(key), title=title, default=default, choices=choices)


def regularizer_params(stem: str, words: str) -> tuple[FloatParam, ...]:
    """L1 and L2 penalties on one weight, as `<stem>_l1` and `<stem>_l2`."""
    sums = {
        "L1": "the absolute values; drives some weights to exactly zero",
        "L2": "the squares; keeps the weights small",
    }
    return tuple(
        FloatParam(
            f"{stem}_{name.lower()}",
            0.0,
            f"Adds this times the sum of {summed} to the loss. 0 is off.",
            title=f"{words} {name}",
            maximum=100.0,
            step=0.0001,
            is_advanced=True,
        )
        for name, summed in sums.items()
    )


def weight_params(*kernels: str) -> tuple[Param, ...]:
    """Bias, initializers and penalties of a layer with these kernels."""
    stems = (*kernels, "bias")
    return (
        BoolParam(
            "use_bias",
            True,
            "Adds a learned bias to every output channel. Not needed right before "
            "BatchNormalization.",
            is_advanced=True,
        ),
        *(initializer_param(f"{kernel}_initializer") for kernel in kernels),
        vector_initializer_param("bias_initializer", "Bias initializer"),
        *(param for stem in stems for param in regularizer_params(stem, stem.capitalize())),
    )


def with_regularizers(params: Params) -> dict[str, Any]:
    """Keras arguments where `<stem>_l1` and `<stem>_l2` have become `<stem>_regularizer`.

    The regularizer is given as Keras's own plain configuration, so no Keras is needed here.
    """
    arguments = dict(params)
    for key in [key for key in params if key.endswith("_l1")]:
        stem = key.removesuffix("_l1")
        l1, l2 = arguments.pop(key), arguments.pop(f"{stem}_l2")
        if l1 or l2:
            config = {"l1": l1, "l2": l2}
            arguments[f"{stem}_regularizer"] = {"class_name": "L1L2", "config": config}
    return arguments


PADDING = ChoiceParam(
    "padding",
    "valid",
    "valid uses only full windows, so the image shrinks; same pads the border, so that the image "
    "keeps its size at stride 1.",
    choices=("valid", "same"),
)


def need_picture(title: str, inputs: Sequence[Shape]) -> tuple[int, int, int]:
    """The first input as (height, width, channels).

    Raises:
        ShapeProblem: it is not an image, that is, has not three axes.
    """
    shape = inputs[0]
    if len(shape) != 3:
        raise ShapeProblem(
            f"{title} needs a 3D input",
            f"{title} works on height × width × channels, and this input has "
            f"{'one axis' if len(shape) == 1 else f'{len(shape)} axes'}. Place it before Flatten "
            "or global pooling, or restore the axes with Reshape.",
        )
    height, width, channels = shape
    return height, width, channels


def normalized_range(params: Params, values: ValueRange) -> ValueRange:
    """The range of most values of mean 0 and variance 1, about."""
    return -1.0, 1.0


def same_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    """The shape of a layer that changes values only."""
    return inputs[0]


def picture_same_shape(title: str) -> Callable[[Params, Sequence[Shape]], Shape]:
    """`infer_shape` of a layer that changes an image's values only."""

    def infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
        return need_picture(title, inputs)

    return infer_shape


def one_per_value(params: Params, inputs: Sequence[Shape], output: Shape) -> int:
    """Multiply-adds of a layer that scales every value once."""
    return math.prod(output)


def join(*parts: str) -> str:
    """The settings of a node in one line."""
    return " · ".join(part for part in parts if part)


def size_text(size: Sequence[int]) -> str:
    """A size as on the canvas: 3×3."""
    return "×".join(f"{n:,}" for n in size)


def percent(value: float) -> str:
    """A share as on the canvas: 25%."""
    return f"{value * 100:g}%"


def unless(params: Params, key: str, default: object, words: str = "{}") -> str:
    """The value of a parameter in words, or "" when it is the default or the layer has none."""
    value = params.get(key, default)
    if value == default:
        return ""
    return words.format(size_text(value) if isinstance(value, tuple) else value)


def extras(params: Params) -> list[str]:
    """Words on bias and penalties, which many layers have."""
    words = [] if params.get("use_bias", True) else ["no bias"]
    words += [
        f"{key[-2:].upper()} {value:g}"
        for key, value in params.items()
        if key.endswith(("_l1", "_l2")) and value
    ]
    return words


def interpolates_in_float32(params: Params) -> bool:
    """Whether TensorFlow has the gradient of an interpolation for float32 alone: it gives none,
    or fails, where the images are bfloat16.
    """
    return params["interpolation"] not in {"nearest", "bilinear"}
