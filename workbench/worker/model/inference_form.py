"""A network in the form that predicts fastest: normalization folded into the layer before.

In prediction a BatchNormalization is a fixed factor and offset per channel, so it becomes part of
the kernel and the bias of the convolution in front of it, and the activation behind it is computed
in the same pass over memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.worker.process.lazy_keras import keras, tf

Array = np.ndarray[Any, np.dtype[Any]]
Tensor = Any


@dataclass
class _Step:
    """One layer that is called, with those behind it that it has taken in.

    Attributes:
        layer: The Keras layer.
        source: Ids of the tensors that it takes.
        target: Id of the tensor that it gives, with all that it has taken in.
        scale, offset: Factor and offset per output channel that it has taken in; None for none.
        activation: What is applied to the result; None for nothing.
    """

    layer: Any
    source: tuple[int, ...]
    target: int
    scale: Array | None = None
    offset: Array | None = None
    activation: Callable[[Tensor], Tensor] | None = None
    call: Callable[..., Tensor] | None = field(default=None, repr=False)


def fast_inference(model: Any, *, as_logits: bool = False) -> Callable[[Tensor], Tensor]:
    """A function of images that gives what the model predicts, faster.

    Args:
        model: A functional Keras model of layers with one output each. Its weights are copied: what
            it learns later changes nothing.
        as_logits: The first output, which is that of a softmax, is to be what that is computed of.

    Returns:
        A function of a tensor (n, ...) of any number type; it is compiled on first use, for any n.
        It gives a list where the model has several outputs.
        In float32 its result differs from the model's by rounding; in bfloat16 both differ
        from the float32 result by about as much.
    """
    steps = _folded(list(_steps(model)), _uses(model))
    for step in steps:
        step.call = _form(step)
    start, ends = id(model.inputs[0]), [id(output) for output in model.outputs]

    def predict(images: Tensor) -> Tensor:
        tensors = {start: images}
        for step in steps:
            assert step.call is not None  # noqa: S101 - for the type
            tensors[step.target] = step.call(*(tensors[source] for source in step.source))
        results = [tensors[end] for end in ends]
        if as_logits:
            results[0] = logits_of(results[0])
        return results if len(results) > 1 else results[0]

    dtype = steps[0].layer.compute_dtype if steps else model.inputs[0].dtype
    signature = tf.TensorSpec(model.inputs[0].shape, dtype)
    compiled = tf.function(predict, input_signature=[signature], jit_compile=False)
    return lambda images: compiled(tf.cast(images, dtype))


def logits_of(probabilities: Tensor) -> Tensor:
    """What a softmax of Keras was computed of."""
    # Keras itself takes that for the loss, as the probabilities may be rounded to 0.
    logits = getattr(probabilities, "_keras_logits", None)
    return tf.math.log(probabilities) if logits is None else logits


def _steps(model: Any) -> Iterator[_Step]:
    """The layers in order, each with the tensors around it."""
    by_depth = model._nodes_by_depth  # noqa: SLF001 - Keras has no other way
    for depth in sorted(by_depth, reverse=True):
        for node in by_depth[depth]:
            if not node.is_input:
                sources = tuple(map(id, node.input_tensors))
                yield _Step(node.operation, sources, id(node.outputs[0]))


def _uses(model: Any) -> dict[int, int]:
    """How often each tensor is used, the results of the model once more."""
    counts: dict[int, int] = {}
    for output in model.outputs:
        counts[id(output)] = counts.get(id(output), 0) + 1
    for step in _steps(model):
        for source in step.source:
            counts[source] = counts.get(source, 0) + 1
    return counts


def _folded(steps: Sequence[_Step], uses: dict[int, int]) -> list[_Step]:
    """The steps that are left when each has taken in what it can of those behind it."""
    kept: list[_Step] = []
    maker: dict[int, _Step] = {}
    for step in steps:
        before = maker.get(step.source[0]) if len(step.source) == 1 else None
        if before is not None and uses[step.source[0]] == 1 and _take(before, step):
            before.target = step.target
            maker[step.target] = before
            continue
        kept.append(step)
        if _is_window(step.layer):
            maker[step.target] = step
    return kept


def _is_window(layer: Any) -> bool:
    """Whether a layer is a convolution that others can be folded into."""
    kinds = (keras.layers.Conv2D, keras.layers.DepthwiseConv2D)
    return (
        isinstance(layer, kinds)
        and layer.activation is keras.activations.linear
        and layer.data_format == "channels_last"
        and getattr(layer, "groups", 1) == 1
    )


def _take(window: _Step, step: _Step) -> bool:
    """Folds a layer into the convolution before it; False where that does not take it."""
    if window.activation is not None:
        return False
    affine = _affine_of(step.layer)
    if affine is not None:
        scale, offset = affine
        window.scale = scale if window.scale is None else window.scale * scale
        window.offset = offset if window.offset is None else window.offset * scale + offset
        return True
    window.activation = _activation_of(step.layer)
    return window.activation is not None


def _affine_of(layer: Any) -> tuple[Array, Array] | None:
    """Factor and offset per channel of a layer that is no more than that in prediction."""
    if isinstance(layer, keras.layers.BatchNormalization):
        mean, variance = _float64(layer.moving_mean), _float64(layer.moving_variance)
        scale = 1 / np.sqrt(variance + layer.epsilon)
        if layer.scale:
            scale = scale * _float64(layer.gamma)
        offset = -mean * scale
        return scale, offset + _float64(layer.beta) if layer.center else offset
    is_factor = (
        isinstance(layer, keras.layers.DepthwiseConv2D)
        and layer.kernel_size == (1, 1)
        and layer.strides == (1, 1)
        and layer.depth_multiplier == 1
        and layer.activation is keras.activations.linear
    )
    if not is_factor:
        return None
    scale = _float64(layer.kernel)[0, 0, :, 0]
    return scale, _float64(layer.bias) if layer.use_bias else np.zeros_like(scale)


def _activation_of(layer: Any) -> Callable[[Tensor], Tensor] | None:
    """The function of a layer that applies it to every value; None for other layers."""
    if isinstance(layer, keras.layers.ReLU) and not layer.negative_slope and not layer.threshold:
        known = {None: tf.nn.relu, 6.0: tf.nn.relu6}
        return known.get(layer.max_value)
    return None


def _form(step: _Step) -> Callable[..., Tensor]:
    """What computes a step."""
    layer = step.layer
    if _is_window(layer):
        return _window_form(step)
    # Keras has no other way to see whether a layer takes the argument.
    more = {"training": False} if getattr(layer, "_call_has_training_arg", False) else {}
    if len(step.source) > 1:
        return lambda *tensors: layer(list(tensors), **more)
    return lambda tensor: layer(tensor, **more)


def _window_form(step: _Step) -> Callable[[Tensor], Tensor]:
    """A convolution with all that it has taken in: one pass over memory where oneDNN has one."""
    layer, dtype = step.layer, step.layer.compute_dtype
    is_depthwise = isinstance(layer, keras.layers.DepthwiseConv2D)
    kernel = _float64(layer.kernel)
    channels = kernel.shape[2] * kernel.shape[3] if is_depthwise else kernel.shape[3]
    scale = np.ones(channels) if step.scale is None else step.scale
    bias = _float64(layer.bias) if layer.use_bias else np.zeros(channels)
    bias = bias * scale + (0 if step.offset is None else step.offset)
    kernel = kernel * (scale.reshape(kernel.shape[2:]) if is_depthwise else scale)
    weights, biases = (tf.constant(np.float32(part), tf.float32) for part in (kernel, bias))
    weights, biases = tf.cast(weights, dtype), tf.cast(biases, dtype)
    padding, activation = layer.padding.upper(), step.activation or tf.identity
    window = tf.nn.depthwise_conv2d if is_depthwise else tf.nn.conv2d
    strides, dilations = [1, *layer.strides, 1], list(layer.dilation_rate)

    def compute(tensor: Tensor) -> Tensor:
        tensor = tf.cast(tensor, dtype)
        made = window(tensor, weights, strides=strides, padding=padding, dilations=dilations)
        return activation(tf.nn.bias_add(made, biases))

    return compute


def _float64(variable: Any) -> Array:
    return np.asarray(variable.numpy(), np.float64)
