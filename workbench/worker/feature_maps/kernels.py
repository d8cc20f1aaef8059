"""The kernels of layers as filters: images that a layer looks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.network.graph import Graph
from workbench.worker.model.build import BuiltModel
from workbench.worker.process.lazy_keras import keras

Values = np.ndarray[Any, np.dtype[np.float32]]

_COLORS = 3


@dataclass(frozen=True)
class Filters:
    """A kernel.

    Attributes:
        values: float32 (height, width, input channels, filters).
        is_color: The input channels are red, green and blue.
        shape: Shape of the kernel, as Keras has it.
    """

    values: Values
    is_color: bool
    shape: tuple[int, ...]


def has_filters(built: BuiltModel, graph: Graph, node: str) -> bool:
    """Whether the kernel of a layer can be shown as images: a convolution's, or that of a layer
    that weighs each place of a plane.
    """
    layer = built.layers.get(node)
    if layer is None:
        return False
    return _is_convolution(layer) or _flattened(built, graph, node) is not None


def filters_of(built: BuiltModel, graph: Graph, node: str) -> Filters:
    """The filters of a layer that has them."""
    layer = built.layers[node]
    kernel, values = _kernel(layer)
    plane = None if _is_convolution(layer) else _flattened(built, graph, node)
    if plane is not None:
        values = values.reshape(*plane, values.shape[-1])
    is_color = values.shape[2] == _COLORS and _sees_colors(built, graph, node)
    return Filters(values, is_color, kernel)


def _is_convolution(layer: Any) -> bool:
    windows = (
        keras.layers.Conv2D,
        keras.layers.Conv2DTranspose,
        keras.layers.DepthwiseConv2D,
        keras.layers.SeparableConv2D,
    )
    return isinstance(layer, windows)


def _kernel(layer: Any) -> tuple[tuple[int, ...], Values]:
    """The shape of a kernel and its values (height, width, input channels, filters), of a layer for
    each channel (height, width, 1, filters). A separable one has its part for each channel shown.
    """
    first = layer.weights[0] if isinstance(layer, keras.layers.SeparableConv2D) else layer.kernel
    values = np.asarray(first.numpy(), np.float32)
    shape = values.shape
    if isinstance(layer, keras.layers.Conv2DTranspose):
        values = values.swapaxes(2, 3)
    elif isinstance(layer, keras.layers.DepthwiseConv2D | keras.layers.SeparableConv2D):
        values = values.reshape(*shape[:2], 1, -1)
    return shape, values


def _flattened(built: BuiltModel, graph: Graph, node: str) -> tuple[int, ...] | None:
    """The shape of the plane that a dense layer looks at, flattened, through layers that keep its
    values in order; None for other layers.
    """
    if not isinstance(built.layers.get(node), keras.layers.Dense):
        return None
    at = graph.sources(node)[0]
    while isinstance(built.layers.get(at), _keeping_order()):
        at = graph.sources(at)[0]
    if not isinstance(built.layers.get(at), keras.layers.Flatten):
        return None
    shape = output_shape(built, graph.sources(at)[0])
    return shape if len(shape) == 3 else None


def _keeping_order() -> tuple[Any, ...]:
    """Layers of which each output is made of the input at the same place."""
    return (
        keras.layers.Dropout,
        keras.layers.Activation,
        keras.layers.ReLU,
        keras.layers.BatchNormalization,
        keras.layers.Rescaling,
    )


def _sees_colors(built: BuiltModel, graph: Graph, node: str) -> bool:
    """Whether the three channels before a layer are still colors: nothing was learned there."""
    before = graph.ancestors(node)
    learned = any(built.layers[key].trainable_variables for key in before if key in built.layers)
    return not learned and all(output_shape(built, key)[-1] == _COLORS for key in before)


def output_shape(built: BuiltModel, node: str) -> tuple[int, ...]:
    """The shape of a layer's output in the model, without the batch axis."""
    output = built.outputs.get(node)
    return tuple(built.input_shape if output is None else output.shape[1:])
