"""Nodes of a network at which the picture still is a plane: what Grad-CAM and gradients look at."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers, find_outputs, input_nodes, tail
from workbench.core.specs import Shape
from workbench.worker.process.lazy_keras import keras

_KERNEL_RANK = 4
"""A convolution's kernel has the axes height, width, channels in and channels out."""


@dataclass(frozen=True)
class Places:
    """Nodes of a network, by id.

    Attributes:
        input: Where the images come in.
        score: The layer that makes the scores of the classes: what is behind it only changes
            values, as a softmax does.
        planes: Nodes whose output is a plane that lies on the picture, in the order of the graph,
            each with its shape (height, width, channels).
        last: The last of these on each way to the scores that has a convolution before it: what
            is known of each place of the picture at the end. Empty without a convolution.
        passages: Planes that all ways from the picture to the scores go through: of each
            convolution the last one before the next, in the order of the graph.
        stops: Nodes before the scores through which TensorFlow has no gradient.
    """

    input: str
    score: str
    planes: Mapping[str, Shape]
    last: tuple[str, ...]
    passages: tuple[str, ...]
    stops: tuple[str, ...]


def find_places(graph: Graph, layers: Layers, made: Mapping[str, Any]) -> Places:
    """The places of a network without errors.

    Args:
        graph: The network.
        layers: The layer types.
        made: Keras layer by node id.
    """
    start = input_nodes(graph, layers)[0].id
    score = tail(graph, layers, find_outputs(graph, layers)[0])[-1]
    way = graph.ancestors(score) | {score}
    found = Propagation(graph, layers)
    planes = _planes(graph, found.shapes, made, start)
    convolved = _convolutions_before(graph, made)
    last = [key for key in _last_planes(graph, score, planes) if convolved[key]]
    all_ways = [key for key in _passages(graph, start, way) if key in planes and convolved[key]]
    # A later one of as many convolutions replaces those before it: a convolution's activation it.
    passages = {convolved[key]: key for key in all_ways}
    stops = [
        key
        for key in graph.order
        if key in way and layers[graph.nodes[key].kind].stops_learning(found.params[key])
    ]
    return Places(start, score, planes, tuple(last), tuple(passages.values()), tuple(stops))


def _planes(
    graph: Graph, shapes: Mapping[str, Shape], made: Mapping[str, Any], start: str
) -> dict[str, Shape]:
    """Nodes whose output has places, each made of the picture around it; a plane made of a flat
    list of values has none that mean one in the picture.
    """
    planes: dict[str, Shape] = {}
    for key in graph.order:
        shape = shapes[key]
        if len(shape) != 3 or shape[0] * shape[1] == 1:
            continue
        sources = [planes[source] for source in graph.sources(key) if source in planes]
        if isinstance(made.get(key), keras.layers.Reshape):
            sources = [source for source in sources if source == shape]
        if key == start or sources:
            planes[key] = shape
    return planes


def _convolutions_before(graph: Graph, made: Mapping[str, Any]) -> dict[str, int]:
    """How many convolutions are before each node, itself among them."""
    ones = {
        key
        for key, layer in made.items()
        if any(len(each.shape) == _KERNEL_RANK for each in layer.weights)
    }
    return {key: len(ones & (graph.ancestors(key) | {key})) for key in graph.order}


def _passages(graph: Graph, start: str, way: AbstractSet[str]) -> list[str]:
    """Nodes that no way from the start to the end of `way` goes around, in order."""
    behind = graph.descendants(start) | {start}
    nodes = [key for key in graph.order if key in way and key in behind]
    at = {key: number for number, key in enumerate(nodes)}
    found, furthest = [], 0
    for number, key in enumerate(nodes):
        if furthest <= number:
            found.append(key)
        furthest = max([furthest, *(at[each] for each in graph.targets(key) if each in at)])
    return found


def _last_planes(graph: Graph, score: str, planes: Mapping[str, Shape]) -> list[str]:
    """Planes from which a way leads to the scores without another plane."""
    found, seen, waiting = set(), {score}, [score]
    while waiting:
        key = waiting.pop()
        if key in planes:
            found.add(key)
            continue
        new = set(graph.sources(key)) - seen
        seen |= new
        waiting += new
    return [key for key in graph.order if key in found]
