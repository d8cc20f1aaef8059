"""Parameters, checks and words that several layer types share. Not a plug-in itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from workbench.core.params import BoolParam, ChoiceParam, FloatParam, Param, Params, SizeParam
from workbench.core.specs import LayerSpec, ParamCount, Shape, ShapeProblem, ValueRange

# borders -------------------------------------------------------------------------------------
# Rows and columns at the four sides of an image. Not a plug-in itself.

SIDES = ("top", "bottom", "left", "right")


def sides_param(key: str, title: str, default: int, help_text: str) -> SizeParam:
    """How many rows or columns at each side."""
    return SizeParam(
        key,
        (default,) * 4,
        help_text,
        title=title,
        axes=SIDES,
        minimum=0,
        maximum=16_384,
        unit="px",
    )


def sides_arguments(key: str) -> Callable[[Params], dict[str, Any]]:
    """`keras_arguments`: Keras takes ((top, bottom), (left, right))."""

    def keras_arguments(params: Params) -> dict[str, Any]:
        top, bottom, left, right = params[key]
        return {key: ((top, bottom), (left, right))}

    return keras_arguments


def describe_sides(key: str) -> Callable[[Params], str]:
    """`describe`: one number where all sides are equal, else all four."""

    def describe(params: Params) -> str:
        sides = params[key]
        if len(set(sides)) == 1:
            return f"{sides[0]} px on each side"
        return ", ".join(f"{name} {n}" for name, n in zip(SIDES, sides, strict=True) if n)

    return describe


# merging -------------------------------------------------------------------------------------
# What the merge layers share. Not a plug-in itself.


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


# common --------------------------------------------------------------------------------------

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


# augmentation --------------------------------------------------------------------------------
# What the random image layers share. Not a plug-in itself.

VALUE_RANGES = {"0-255": (0, 255), "0-1": (0, 1), "-1-1": (-1, 1)}
"""Choice -> lowest and highest pixel value."""


def factor_param(key: str, title: str, default: float, maximum: float, words: str) -> FloatParam:
    """Largest change, as a share."""
    return FloatParam(key, default, words, title=title, maximum=maximum, step=0.05)


FILL: tuple[Param, ...] = (
    ChoiceParam(
        "fill_mode",
        "reflect",
        "How the gap at the borders is filled.",
        title="Fill",
        choices=("reflect", "nearest", "wrap", "constant"),
        titles={
            "reflect": "mirror the image",
            "nearest": "repeat the edge",
            "wrap": "repeat the image",
            "constant": "constant value",
        },
        is_advanced=True,
    ),
    ChoiceParam(
        "interpolation",
        "bilinear",
        "How values between pixels are computed.",
        choices=("bilinear", "nearest"),
        is_advanced=True,
    ),
    FloatParam(
        "fill_value",
        0.0,
        'Used when Fill is "constant value".',
        minimum=-1000.0,
        maximum=1000.0,
        step=1.0,
        is_advanced=True,
    ),
)
"""How places that come from outside the image are filled."""

VALUE_RANGE = ChoiceParam(
    "value_range",
    "0-255",
    "Range of the values at this point: 0 to 255, unless Rescaling comes before it.",
    title="Pixel values",
    choices=tuple(VALUE_RANGES),
    titles={"0-255": "0 to 255", "0-1": "0 to 1", "-1-1": "−1 to 1"},
    is_advanced=True,
)
"""The range that pixel values have at this place."""


def augmentation_layer(*, title: str, **more: Any) -> LayerSpec:
    """A layer type that changes images at random; arguments as of LayerSpec."""
    return LayerSpec(
        title=title,
        category="preprocessing",
        infer_shape=picture_same_shape(title),
        place="pipeline",
        **more,
    )


def with_value_range(params: Params) -> dict[str, Any]:
    """Keras arguments with the range as two numbers."""
    return {**params, "value_range": VALUE_RANGES[params["value_range"]]}


def plus_minus(share: float) -> str:
    """A symmetric range in words: ± 10%."""
    return f"± {percent(share)}"


def describe_factor(params: Params) -> str:
    """The one factor in words."""
    return plus_minus(params["factor"])


# normalization -------------------------------------------------------------------------------
# What the normalization layers share. Not a plug-in itself.

NORMALIZATION_PARAMS: tuple[Param, ...] = (
    FloatParam(
        "epsilon",
        0.001,
        "Added to the variance to avoid division by zero.",
        is_minimum_excluded=True,
        maximum=1.0,
        step=0.001,
        is_advanced=True,
    ),
    BoolParam(
        "center",
        True,
        "Learns an offset per channel (beta).",
        title="Learn offset",
        is_advanced=True,
    ),
    BoolParam(
        "scale",
        True,
        "Learns a factor per channel (gamma). Not needed right before a Dense or Conv2D layer "
        "without an activation in between.",
        title="Learn scale",
        is_advanced=True,
    ),
    vector_initializer_param("beta_initializer", "Offset initializer"),
    vector_initializer_param("gamma_initializer", "Scale initializer", "ones"),
    *regularizer_params("beta", "Offset"),
    *regularizer_params("gamma", "Scale"),
)
"""What keeps the division safe, and learned scale and offset per channel."""


def count_affine(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    """Scale and offset per channel."""
    return ParamCount(inputs[0][-1] * (bool(params["scale"]) + bool(params["center"])))


def describe_affine(params: Params, *words: str) -> str:
    """Other settings in words, and what of scale and offset is switched off."""
    center, scale = params["center"], params["scale"]
    return join(*words, "" if center else "no offset", "" if scale else "no scale")


# regularization ------------------------------------------------------------------------------
# What the dropout layers share. Not a plug-in itself.


def rate_param(default: float, words: str) -> FloatParam:
    """Share of values left out at each step."""
    return FloatParam(
        "rate",
        default,
        f"Fraction of {words} set to zero at each training step; inactive during prediction.",
        maximum=1.0,
        is_maximum_excluded=True,
        step=0.05,
    )


def describe_rate(params: Params) -> str:
    """The rate in percent."""
    return percent(params["rate"])
