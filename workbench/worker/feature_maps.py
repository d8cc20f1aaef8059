"""What a layer gives for an image, and its filters, as small images: one for each channel.

Works for any network that can be built, by the layers of a saved model. The answer is one image of
levels for all channels, with their statistics; window and terminal color it by `pictures.heat`.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from workbench.core.network.graph import Graph
from workbench.core.projects.project_file import graph_from_plain
from workbench.errors import RunError, UsageError
from workbench.inference.runner import Pixels
from workbench.layers import all_layers
from workbench.protocol.trained.feature_maps import BINS, Channel, LayerPlace, Order, What
from workbench.worker.model.build import BuiltModel
from workbench.worker.process.lazy_keras import keras
from workbench.worker.saved_models.keras_runner import KerasRunner

# kernels -------------------------------------------------------------------------------------
# The kernels of layers as filters: images that a layer looks for.

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


# planes --------------------------------------------------------------------------------------
# The values of channels as tiles: their statistics, their order, and their levels in one image.

Levels = np.ndarray[Any, np.dtype[np.uint8]]

_MOST_PIXELS = 1_500_000
"""Pixels of all tiles together: larger maps are reduced, so that the image is written within
50 ms."""

_DIGITS = 6


@dataclass(frozen=True)
class Planes:
    """Channels of a layer, or filters, in the order in which they are shown.

    Attributes:
        values: float32 (height, width, n), or (height, width, 3, n) of filters in color.
        is_signed: 0 is in the middle of the levels, as of weights.
        channels: One for each of n.
    """

    values: Values
    is_signed: bool
    channels: list[Channel]

    @property
    def is_color(self) -> bool:
        """Whether they are in color."""
        return self.values.ndim == 4


def planes_of(values: Values, order: Order, most: int, *, is_signed: bool = False) -> Planes:
    """The strongest channels, or the first, of values as in `Planes`."""
    flat = values.reshape(-1, values.shape[-1])
    strength = np.abs(flat).mean(axis=0)
    indices = np.arange(flat.shape[1])
    if order == "strength":
        indices = np.argsort(-strength, kind="stable")
    indices = indices[:most]
    chosen = values[..., indices]
    return Planes(chosen, is_signed, _channels(flat[:, indices], indices, is_signed=is_signed))


def as_planes(output: Values) -> Values:
    """An output without the batch axis as (height, width, channels): a list of units is a list of
    channels of one place each.
    """
    if output.ndim == 1:
        return output[None, None]
    return output.reshape(-1, output.shape[-2], output.shape[-1])


def _channels(flat: Values, indices: np.ndarray[Any, Any], *, is_signed: bool) -> list[Channel]:
    low, high = flat.min(axis=0), flat.max(axis=0)
    most = np.maximum(np.abs(low), np.abs(high))
    bounds = (-most, most) if is_signed else (low, high)
    columns = {
        "least": low,
        "largest": high,
        "mean": flat.mean(axis=0, dtype=np.float64),
        "strength": np.abs(flat).mean(axis=0, dtype=np.float64),
        "zeros": (flat == 0).mean(axis=0),
        "low": bounds[0],
        "high": bounds[1],
    }
    short = {key: [_rounded(value) for value in column.tolist()] for key, column in columns.items()}
    counts = _histograms(flat, low, high)
    return [
        Channel(index=int(index), histogram=counts[at], **{key: short[key][at] for key in short})
        for at, index in enumerate(indices.tolist())
    ]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _histograms(flat: Values, low: Values, high: Values) -> list[list[int]]:
    """The counts of each column in equal parts of its range."""
    size, count = flat.shape
    if size == 1:
        return [[] for _ in range(count)]
    # Of a range of nothing all values are in the first part.
    width = np.where(high > low, np.float64(high) - low, 1)
    parts = np.minimum((flat - low) / width * BINS, BINS - 1).astype(np.int64)
    places = parts + BINS * np.arange(count)
    found = np.bincount(places.ravel(), minlength=BINS * count)
    return found.reshape(count, BINS).tolist()


def tile_levels(planes: Planes) -> Levels:
    """The tiles of planes: uint8 (n, height, width), in color (n, height, width, 3)."""
    low = np.array([channel.low for channel in planes.channels], np.float32)
    high = np.array([channel.high for channel in planes.channels], np.float32)
    span = np.where(high > low, high - low, 1)
    scaled = ((planes.values - low) / span).clip(0, 1)
    if planes.is_signed:
        scaled = np.where(high > low, scaled, 0.5)  # all weights are 0: the middle
    tiles = np.moveaxis((255 * scaled).round().astype(np.uint8), -1, 0)
    scale = math.sqrt(_MOST_PIXELS / max(1, math.prod(tiles.shape[:3])))
    if scale >= 1:
        return np.ascontiguousarray(tiles)
    height, width = (max(1, int(side * scale)) for side in tiles.shape[1:3])
    return np.stack([_reduced(tile, height, width) for tile in tiles])


def _reduced(tile: Levels, height: int, width: int) -> Levels:
    image = Image.fromarray(np.ascontiguousarray(tile))
    return np.asarray(image.resize((width, height), Image.Resampling.BOX))


def columns_for(count: int) -> int:
    """Tiles in a row of an image of all of them."""
    return max(1, math.ceil(math.sqrt(count)))


def sheet(tiles: Levels, columns: int, *, gap: int = 0) -> Levels:
    """Tiles row by row in one image, with a gap of pixels of 255 between them."""
    count, height, width = tiles.shape[:3]
    rows = math.ceil(count / columns)
    size = rows * (height + gap) - gap, columns * (width + gap) - gap
    result = np.full((*size, *tiles.shape[3:]), 255 if gap else 0, np.uint8)
    for at, tile in enumerate(tiles):
        top, left = at // columns * (height + gap), at % columns * (width + gap)
        result[top : top + height, left : left + width] = tile
    return result


# looker --------------------------------------------------------------------------------------
# The layers of a model, what each gives for an image, and what it has learned to look for.

_KEY = "feature_maps"

_KEPT_MODELS = 16
"""Parts of the network up to a layer, kept for the next image."""


@dataclass(frozen=True)
class Chosen:
    """A layer and what is shown of it."""

    place: LayerPlace
    what: What


class Looker:
    """Looks at the layers of one model."""

    def __init__(self, runner: KerasRunner) -> None:
        self._runner = runner
        self._built = runner.built
        self._graph: Graph = graph_from_plain(runner.card.graph, runner.card.title)
        self._parts: OrderedDict[str, Any] = OrderedDict()
        self._nodes = self._shown_nodes()
        self.places = [self._place(key) for key in self._nodes.values()]

    def choose(self, layer: str, what: What, *, is_preferred: bool) -> Chosen:
        """The layer of a name, and whether its maps or filters are shown; see ShowLayer.

        Raises:
            UsageError: there is none, or it has no filters.
        """
        by_name = {place.name: place for place in self.places}
        if (not layer or is_preferred) and layer not in by_name:
            layer = self._first()
        if layer not in by_name:
            raise UsageError(
                "This network has no such layer.", received=layer, expected=", ".join(by_name)
            )
        place = by_name[layer]
        if what == "filters" and not place.has_filters:
            if is_preferred:
                return Chosen(place, "maps")
            with_filters = [each.name for each in self.places if each.has_filters]
            raise UsageError(
                "This layer has no filters.",
                received=layer,
                expected=", ".join(with_filters) or "a network with a convolution",
            )
        return Chosen(place, what)

    def maps(self, layer: str, image: Pixels) -> Values:
        """The output of a layer for an image uint8 (height, width, channels), as (height, width,
        channels of the layer).

        Raises:
            RunError: it is not finite.
        """
        node = self._nodes[layer]
        if node not in self._built.outputs:
            return image.astype(np.float32)
        output = self._part(node)(np.float32(image[None]), training=False)
        values = np.asarray(output, np.float32)[0]
        _check_finite(values, "outputs", layer)
        return as_planes(values)

    def filters(self, layer: str) -> Filters:
        """The filters of a layer that has some; raises RunError where they are not finite."""
        found = filters_of(self._built, self._graph, self._nodes[layer])
        _check_finite(found.values, "filters", layer)
        return found

    def _shown_nodes(self) -> dict[str, str]:
        """Node id by the layer's name, of the layers in the model."""
        starts = {key for key in self._graph.order if not self._graph.sources(key)}
        known = [key for key in self._graph.order if key in self._built.outputs or key in starts]
        return {self._graph.nodes[key].name: key for key in known}

    def _place(self, node: str) -> LayerPlace:
        one = self._graph.nodes[node]
        return LayerPlace(
            name=one.name,
            title=all_layers()[one.kind].title,
            group=one.group,
            shape=list(output_shape(self._built, node)),
            has_filters=has_filters(self._built, self._graph, node),
        )

    def _first(self) -> str:
        """The first layer with filters; else the first with weights; else the last."""
        with_filters = [place.name for place in self.places if place.has_filters]
        layers = self._built.layers
        learned = [
            name
            for name, key in self._nodes.items()
            if key in layers and layers[key].trainable_variables
        ]
        return [*with_filters, *learned, self.places[-1].name][0]

    def _part(self, node: str) -> Any:
        """The network up to a layer."""
        if node not in self._parts:
            output = self._built.outputs[node]
            self._parts[node] = keras.Model(self._built.model.input, output, name="up_to_layer")
        self._parts.move_to_end(node)
        if len(self._parts) > _KEPT_MODELS:
            self._parts.popitem(last=False)
        return self._parts[node]


def _check_finite(values: Values, what: str, layer: str) -> None:
    if not np.isfinite(values).all():
        raise RunError(
            f"The {what} of this layer are not finite: the training diverged.",
            where=layer,
            fix="Train it again with a lower learning rate.",
        )


def looker_of(runner: KerasRunner) -> Looker:
    """The looker of a model: one for as long as the model is kept."""
    kept: Looker = runner.extras.setdefault(_KEY, None) or Looker(runner)
    runner.extras[_KEY] = kept
    return kept
