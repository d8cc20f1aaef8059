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

from workbench.backbones import insert_backbone
from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import last_hidden, specs_of
from workbench.core.specs import BackboneSpec, Role
from workbench.layers import all_layers
from workbench.pictures.contents import STEP
from workbench.worker.model.build import BuiltModel, build_model, connect
from workbench.worker.process.lazy_keras import keras, tf

# hidden outputs ------------------------------------------------------------------------------
# The outputs of a network's last hidden layer beside its scores.


def hidden_node(built: BuiltModel, graph: Graph) -> str | None:
    """The last hidden layer; None where the scores are not those of one layer."""
    return last_hidden(graph, all_layers(), lambda node: _has_kernel(built.layers.get(node)))


def _has_kernel(layer: Any) -> bool:
    return layer is not None and any(len(weight.shape) > 1 for weight in layer.weights)


def with_hidden(built: BuiltModel, hidden: str) -> Any:
    """A Keras model that gives (scores (n, classes), outputs of the node `hidden`)."""
    # What the input pipeline has done to an image is what the model begins with.
    on_host = {node for node, _ in built.pipeline}
    inside = built.layers.get(hidden) if hidden not in on_host else None
    output = built.model.input if inside is None else inside.output
    return keras.Model(built.model.input, [built.model.output, output], name="with_hidden")


def head_with_hidden(built: BuiltModel, graph: Graph, end: str, hidden: str) -> Any | None:
    """A Keras model as of `with_hidden` that takes the outputs of the layer `end`; None where the
    last hidden layer is before that.
    """
    before = graph.ancestors(end) | {end}
    output = built.layers[end].output
    start = keras.Input(shape=output.shape[1:], dtype=output.dtype)
    tensors = {end: start, **connect(graph, built.layers, {end: start}, before)}
    if hidden not in tensors:
        return None
    last = next(key for key in reversed(graph.order) if key in tensors)  # the only output
    return keras.Model(start, [tensors[last], tensors[hidden]], name="head_with_hidden")


def flat_hidden(output: Any) -> Any:
    """Hidden outputs as float32 (n, d): of feature maps the mean over their places."""
    values = tf.cast(output, tf.float32)
    between = list(range(1, len(values.shape) - 1))
    return tf.reduce_mean(values, axis=between) if between else values


# backbone features ---------------------------------------------------------------------------
# Features of images by a bundled backbone, for what is no training.

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Floats = np.ndarray[Any, np.dtype[np.float32]]

BATCH = STEP
"""Images of a call; fewer are filled up, so that the step is compiled once."""


class BackboneFeatures:
    """Computes features by a pretrained network without its top.

    Attributes:
        shape: (height, width, channels) of the images that it takes.
        num_features: Numbers for each image.

    Raises:
        WeightsError: its weights are missing or damaged.
    """

    def __init__(self, spec: BackboneSpec) -> None:
        layers = all_layers()
        start = specs_of(layers, Role.INPUT)[0]
        node = Node("n1", start.key, start.key, {start.params[0].key: spec.input_shape})
        inserted = insert_backbone(Graph.of([node]), spec, node.id, spec.input_shape)
        model = build_model(inserted.graph, layers, whole=True).model
        self.shape = spec.input_shape
        self.num_features = spec.num_features
        self._call = tf.function(
            lambda images: model(tf.cast(images, tf.float32), training=False),
            input_signature=[tf.TensorSpec((BATCH, *spec.input_shape), tf.uint8)],
        )

    def of(self, images: Pixels) -> Floats:
        """The features of at most BATCH images, uint8 (n, *shape): float32 (n, d)."""
        filled = np.zeros((BATCH, *self.shape), np.uint8)
        filled[: len(images)] = images
        features: Floats = self._call(tf.constant(filled)).numpy()[: len(images)]
        return features


# inference form ------------------------------------------------------------------------------

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
