"""What a layer's plug-in file declares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Literal, Protocol

import numpy as np

from workbench.core.params import ChoiceParam, Param, Params, defaults

# onnx ----------------------------------------------------------------------------------------
# What a layer is handed to write itself in ONNX, for programs without TensorFlow.

Shape = tuple[int, ...]
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class OnnxValue:
    """A tensor of the ONNX graph.

    Attributes:
        name: Its name there.
        shape: Shape for one image, without the batch axis, as in Keras: channels last.
        is_channels_first: Whether the tensor is (n, channels, height, width), as ONNX's windows
            need it; else its axes are those of `shape`.
    """

    name: str
    shape: Shape
    is_channels_first: bool = False

    @property
    def channel_axis(self) -> int:
        """The tensor's axis of the channels: the last of Keras's."""
        return 1 if self.is_channels_first else -1


class OnnxLayer(Protocol):
    """One layer while it is written.

    Attributes:
        params: Its checked parameters.
        inputs: What comes in, in the order of the ports.
        shape: Its output's shape as in Keras.
    """

    params: Mapping[str, Any]
    inputs: Sequence[OnnxValue]
    shape: Shape

    def weight(self, name: str) -> Array:
        """One of its weights by Keras's name, float32."""

    def op(self, kind: str, *inputs: str | Array, num_outputs: int = 1, **attributes: Any) -> str:
        """Adds an operator of the standard set; returns the name of its first output. An array
        becomes a constant.
        """

    def first(self, value: OnnxValue) -> str:
        """An image's tensor as (n, channels, height, width)."""

    def last(self, value: OnnxValue) -> str:
        """A tensor with Keras's axes."""

    def out(self, name: str, *, is_channels_first: bool = False) -> OnnxValue:
        """A tensor as this layer's output."""

    def mapped(self, kind: str, *inputs: OnnxValue | str | Array, **attributes: Any) -> OnnxValue:
        """Adds an operator that works on each number alone; the first input is a value, and the
        output has its axes.
        """

    def by_channel(self, array: Array, value: OnnxValue) -> Array:
        """Numbers, one a channel, in the shape in which they broadcast to a value's tensor."""


def same(layer: OnnxLayer) -> OnnxValue:
    """The rule of a layer that does nothing outside of training."""
    return layer.inputs[0]


WriteOnnx = Callable[[Any], OnnxValue]
"""A layer's rule: writes an OnnxLayer, returns its output."""


# pipeline form -------------------------------------------------------------------------------
# How a layer runs in the input pipeline in one function with its neighbors: as a matrix that
# moves pixels, or as a curve that changes their values.
#
# *Matrices* of layers one after another multiply into one, so an image is interpolated once:
# sharper than Keras's way, which interpolates once a layer, and a layer never sees the gaps that
# the one before has filled.
#
# *Curves* change a value v to clip(scale * v + offset, low, high), with numbers of their own for
# each image; one after another they make one of the same form, exactly: clipping twice is
# clipping once, to the bounds clipped.
#
# The arithmetic is in the files of the layers, which read the attributes that the layers of
# Keras 3.15 have.

Matrix = tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]
"""From a place of the result, (x, y, 1) in pixels, to a place of the source, as in Keras's
layers (2 x 3). Entries are numbers, or tensors (batch, 1, 1)."""

Draw = Callable[[], Any]
"""Gives the next uniform numbers in [0, 1), one per image: (batch, 1, 1)."""

_ONE, _NONE = 1.0, 0.0


@dataclass(frozen=True)
class Curve:
    """v -> clip(scale * v + offset, low, high); None where nothing is clipped.

    Numbers, or tensors that broadcast over (batch, height, width, channels).
    """

    scale: Any = _ONE
    offset: Any = _NONE
    low: Any = None
    high: Any = None

    def then(self, scale: Any, offset: Any) -> Curve:
        """Composition of this curve with another multiply-add; `scale` is not negative."""
        return Curve(
            self.scale * scale,
            self.offset * scale + offset,
            None if self.low is None else self.low * scale + offset,
            None if self.high is None else self.high * scale + offset,
        )

    def then_clip(self, tf: Any, low: float, high: float) -> Curve:
        """The composition with a clip to [low, high]."""

        def within(bound: Any, otherwise: float) -> Any:
            return otherwise if bound is None else tf.clip_by_value(bound, low, high)

        return replace(self, low=within(self.low, low), high=within(self.high, high))

    def of(self, tf: Any, values: Any) -> Any:
        """The curve's values, float32."""
        values = tf.cast(values, tf.float32)
        if self.is_straight and self.scale is _ONE and self.offset is _NONE:
            return values
        values = values * self.scale + self.offset
        if self.low is not None:
            values = tf.maximum(values, self.low)
        return values if self.high is None else tf.minimum(values, self.high)

    @property
    def is_straight(self) -> bool:
        """True when nothing is clipped: means go through the curve as values do."""
        return self.low is None and self.high is None


@dataclass(frozen=True)
class AffineTransform:
    """A layer that moves pixels. One that draws does so in training only.

    Attributes:
        matrix: (tf, Keras's layer, draw, height, width) -> the matrix of each image.
        draws: How many random numbers it draws per image, at most.
    """

    matrix: Callable[[Any, Any, Draw, int, int], Matrix]
    draws: int


@dataclass(frozen=True)
class IntensityTransform:
    """A layer that changes values. One that draws does so in training only.

    Attributes:
        curve: (tf, Keras's layer, draw, images, curve so far) -> (images, curve with it).
        draws: How many random numbers it draws per image.
    """

    curve: Callable[[Any, Any, Draw, Any, Curve], tuple[Any, Curve]]
    draws: int = 0


def between(uniform: Any, low: float, high: float) -> Any:
    """Uniform numbers in [0, 1) as numbers in [low, high)."""
    return low + (high - low) * uniform


# layer ---------------------------------------------------------------------------------------

CATEGORIES: Mapping[str, str] = {
    "input": "Input",
    "preprocessing": "Preprocessing",
    "convolution": "Convolution",
    "pooling": "Pooling",
    "core": "Core",
    "normalization": "Normalization",
    "regularization": "Regularization",
    "activation": "Activation",
    "merge": "Merge",
}
"""Palette categories in their order: key -> title."""

VALUE_CATEGORIES = frozenset({"activation", "regularization"})
"""Categories of layers that change values and never shapes."""

ACTIVATION_CATEGORY = "activation"
"""The category of layers that apply a function to every value."""

SOFTMAX = "softmax"
"""Keras's name of the activation that makes probabilities."""

LINEAR = "linear"
"""Keras's name of no activation."""

ACTIVATION = "activation"
"""Keras's name of the parameter that chooses it."""

RELU = "relu"
"""Keras's name of the usual activation inside a network."""

LEAKY_RELU = "leaky_relu"
"""Keras's name of the same, but for a small slope where that is flat."""

Place = Literal["model", "pipeline", "either"]
"""Part of the program that runs a layer: in the model; in the input pipeline on the host
(augmentation); or in the pipeline when it is in the unbroken chain behind Input, else in the model.
"""


class Role(Enum):
    """What the checks, their fixes and the exported programs look for in a network."""

    INPUT = auto()
    """The layer that takes the images; a network has one."""
    FLATTEN = auto()
    """Offered before a layer that needs a flat input."""
    DENSE = auto()
    """Needs a flat input and makes the scores of the classes, as many as its `width`."""
    SOFTMAX = auto()
    """Makes probabilities of scores."""


class TrainingClass(Enum):
    """A class of `worker.model` that trains a layer in place of Keras's, with the same weights
    and results. Only the trainer uses it: exported models are made of Keras's layers.
    """

    FUSED_BATCH_NORM = auto()
    FAST_DROPOUT = auto()
    EXACT_BIAS = auto()
    """In bfloat16: the gradient of the bias is summed in float32."""
    EXACT_BIAS_WITHOUT_ONEDNN = auto()
    """The same, unless oneDNN computes the gradient, which sums in float32 by itself."""
    LINKED_CONVOLUTION = auto()
    """The same; and it works together with normalization, ReLU and max pooling around it."""
    DENSE = auto()
    """A Dense layer with the bias of EXACT_BIAS; in float32 the gradient of bfloat16 inputs is
    computed in bfloat16."""
    LINKED_POOLING = auto()
    LINKED_RELU = auto()


class ShapeProblem(Exception):  # noqa: N818 - a finding, not a fault
    """Raised by `infer_shape`: these inputs do not fit this layer.

    Args:
        title: Short heading, e.g. "Dense needs a flat input".
        reason: One or two sentences, without the nodes' names (the caller adds them).
        fixes: Keys of fixes that would help, e.g. ("insert_flatten",): see
            `core.checks.shapes.Propagation`.
    """

    def __init__(self, title: str, reason: str, fixes: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.title = title
        self.reason = reason
        self.fixes = tuple(fixes)


@dataclass(frozen=True)
class ParamCount:
    """Numbers a layer learns, and numbers it keeps without learning them."""

    trainable: int = 0
    non_trainable: int = 0

    @property
    def total(self) -> int:
        return self.trainable + self.non_trainable


ValueRange = tuple[float, float]
"""Lowest and highest value."""

InferShape = Callable[[Params, Sequence[Shape]], Shape]
CountParams = Callable[[Params, Sequence[Shape]], ParamCount]
CountMultiplyAdds = Callable[[Params, Sequence[Shape], Shape], int]


@dataclass(frozen=True, kw_only=True)
class LayerSpec:
    """One layer type: everything that palette, form, file, check, build and docs read.

    Attributes:
        key: File name and JSON value, e.g. "conv2d".
        title: Keras's own class name, e.g. "Conv2D".
        category: A key of CATEGORIES.
        summary: What it does, one or two plain sentences.
        params: Its parameters; keys are Keras's argument names where one exists.
        infer_shape: Output shape from (checked params, input shapes); raises ShapeProblem.
        count_params: Learned and kept numbers for (params, input shapes).
        count_multiply_adds: Multiply-adds of one forward pass of one image.
        describe: The settings in words for the node's second line, e.g.
            "32 filters · 3×3 · same · relu"; empty when all are defaults.
        min_inputs, max_inputs: Number of edges into it; max None means any number.
        place: Where it runs, see Place.
        keras_arguments: Constructor arguments for `keras.layers.<title>` from params.
        keras2_names: Names in Keras 2 of arguments that it names otherwise.
        keywords: More words the palette's search finds it by.
        tpu_hint: One sentence on its cost on a TPU for these (params, output), or "". What its
            width makes of the matrix unit is said of every layer with a width.
        needs_float32: Whether TensorFlow learns through it in float32 only: it then computes
            in that, whatever the recipe's precision.
        stops_learning: Whether TensorFlow has no gradient of it at all: no layer before it
            can learn.
        is_linear: Whether a trained layer's outputs, before an activation of its own, are sums of
            its inputs times fixed numbers, plus fixed numbers.
        range_of: (params, range of the values that go in) -> range of those that come out, of a
            layer that is there to change it; None for all others.
        role: What it is for the network as a whole; None for most layers.
        width: Key of the parameter that sets the length of the output's last axis, "" for none.
        projection: (shape, wanted shape) -> parameters with which it brings one to the other,
            where a layer that keeps channels leaves those; None where it cannot.
        refits: (params, output shape, wanted shape) -> other values of some parameters that may
            bring its output to the wanted shape, best first.
        randomness: Key of the parameter that reports how much a layer of the model draws at random
            in training, where 0 draws nothing; "" for a layer that draws nothing.
        has_batch_statistics: Whether it normalizes by mean and variance of the batch, so that
            replicas which share a batch compute otherwise than one alone.
        is_adapted: Whether Keras's `adapt` sets its state from the training images, before
            training starts.
        training_class: What trains it in place of Keras's class; None for that.
        pipeline_form: How it runs in the input pipeline in one function with its neighbors;
            None where it runs there as Keras has it.
        common_rank: Its place among the layers that are used most, from 1; None for others.
        onnx: Writes it in ONNX; None where nothing does: it then needs TensorFlow.
    """

    key: str
    title: str
    category: str
    summary: str
    params: tuple[Param, ...] = ()
    infer_shape: InferShape
    count_params: CountParams = lambda params, inputs: ParamCount()
    count_multiply_adds: CountMultiplyAdds = lambda params, inputs, output: 0
    describe: Callable[[Params], str] = lambda params: ""
    min_inputs: int = 1
    max_inputs: int | None = 1
    place: Place = "model"
    keras_arguments: Callable[[Params], dict[str, Any]] = dict
    keras2_names: Mapping[str, str] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()
    tpu_hint: Callable[[Params, Shape], str] = lambda params, output: ""
    needs_float32: Callable[[Params], bool] = lambda params: False
    stops_learning: Callable[[Params], bool] = lambda params: False
    is_linear: bool = False
    range_of: Callable[[Params, ValueRange], ValueRange] | None = None
    role: Role | None = None
    width: str = ""
    projection: Callable[[Shape, Shape], Params | None] = lambda shape, wanted: None
    refits: Callable[[Params, Shape, Shape], Iterable[Params]] = lambda params, output, wanted: ()
    randomness: str = ""
    has_batch_statistics: bool = False
    is_adapted: bool = False
    training_class: TrainingClass | None = None
    pipeline_form: AffineTransform | IntensityTransform | None = None
    common_rank: int | None = None
    onnx: WriteOnnx | None = None

    def defaults(self) -> dict[str, Any]:
        """The default value of each parameter."""
        return defaults(self.params)

    @property
    def activation(self) -> ChoiceParam | None:
        """The parameter that chooses the function it ends in; None where it has none."""
        choices = (param for param in self.params if isinstance(param, ChoiceParam))
        return next((param for param in choices if SOFTMAX in param.choices), None)


def shared_params(specs: Sequence[LayerSpec]) -> tuple[Param, ...]:
    """Parameters that some layer types have alike, as the first of them describes them.

    Alike are those that allow the same values under the same key; defaults and help may differ.
    """
    if not specs:
        return ()
    first, *others = {spec.key: spec for spec in specs}.values()
    kept = {param.key: _without_words(param) for param in first.params}
    for spec in others:
        has = {param.key: _without_words(param) for param in spec.params}
        kept = {key: param for key, param in kept.items() if has.get(key) == param}
    return tuple(param for param in first.params if param.key in kept)


def _without_words(param: Param) -> Param:
    return replace(param, default=None, help="", is_advanced=False, group="")
