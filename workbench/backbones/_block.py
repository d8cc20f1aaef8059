"""The layers of a pretrained network as its resource has them. Not a plug-in itself."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import takewhile
from typing import Any

from workbench.assets import resource_path
from workbench.core.network.graph import Edge, Graph, Node, free_name
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.specs import BackboneSpec, PretrainedLayer, Shape, ValueRange
from workbench.errors import GraphError

Variables = Mapping[str, Mapping[str, Shape]]
"""Shape by variable ("kernel"), by layer."""


@dataclass(frozen=True)
class SourceArray:
    """One array of a weights file as Keras publishes it.

    Attributes:
        shape: In the file; here it may be another one for the same numbers.
        layer, variable: What it becomes here.
        reversed_axis: The axis along which the file has it backwards; None for none.
    """

    shape: Shape
    layer: str
    variable: str
    reversed_axis: int | None


@dataclass(frozen=True)
class Block:
    """A pretrained network without weights.

    Attributes:
        graph: Its layers; the first takes images, the last gives the features.
        variables: All its weights.
        constants: Values of the weights that no file holds.
        source: The arrays of each layer with weights in Keras's file, in the order of that.
        input_range: Lowest and highest value of a pixel that the network takes.
        input_shape: The usual (height, width, channels) of an image.
    """

    graph: Graph
    variables: Variables
    constants: Mapping[str, Mapping[str, Any]]
    source: tuple[tuple[SourceArray, ...], ...]
    input_range: ValueRange
    input_shape: Shape

    @cached_property
    def first(self) -> str:
        """The id of the layer that takes images."""
        return self.graph.order[0]

    @cached_property
    def last(self) -> str:
        """The id of the layer that gives the features."""
        return self.graph.order[-1]

    @cached_property
    def layers(self) -> Mapping[str, PretrainedLayer]:
        """The layers with weights, by name."""
        nodes = {node.name: node for node in self.graph.nodes.values()}
        known = {
            name: PretrainedLayer(
                sum(map(math.prod, shapes.values())),
                nodes[name].kind,
                nodes[name].params,
                input_shape=self.input_shape,
            )
            for name, shapes in self.variables.items()
        }
        before = list(takewhile(lambda node: node.name not in known, self._in_order))
        first = self._in_order[len(before)].name
        kinds = tuple((node.kind, node.params) for node in before)
        known[first] = replace(known[first], input_range=self.input_range, before=kinds)
        return known

    @property
    def _in_order(self) -> list[Node]:
        return [self.graph.nodes[key] for key in self.graph.order]


@cache
def block_of(spec: BackboneSpec) -> Block:
    """The layers of a pretrained network; they are read once."""
    plain = json.loads(resource_path(spec.graph_resource).read_text(encoding="utf-8"))
    graph = graph_from_plain(plain, spec.graph_resource)
    variables = {
        layer: {name: tuple(shape) for name, shape in shapes.items()}
        for layer, shapes in plain["variables"].items()
    }
    source = tuple(
        tuple(
            SourceArray(tuple(shape), layer, variable, None if axis < 0 else axis)
            for shape, layer, variable, axis in entries
        )
        for entries in plain["source"]
    )
    return Block(graph, variables, plain["constants"], source, spec.input_range, spec.input_shape)


# insertion -----------------------------------------------------------------------------------
# A pretrained network as layers of a graph. Not a plug-in itself.

_COLORS = 3
_ADAPTERS = "backbones/adapters.json"
"""The layers for grayscale and for small images, which are no part of any one network."""


@dataclass(frozen=True)
class Inserted:
    """A graph with a backbone in it.

    Attributes:
        graph: The graph.
        first: Id of the layer that takes the images.
        last: Id of the layer that gives the features.
        nodes: Ids of all its layers, first to last.
        group: The name of its group.
    """

    graph: Graph
    first: str
    last: str
    nodes: tuple[str, ...]
    group: str


def insert_backbone(graph: Graph, spec: BackboneSpec, after: str, shape: Shape) -> Inserted:
    """Adds the layers of a pretrained network behind a node, as a group that never learns.

    Other connections of the node stay as they are, and nothing is connected to the features.

    Args:
        graph: The network; its images come as they are, in the backbone's `input_range`.
        spec: The pretrained network.
        after: Id of the node behind which it comes; "" to connect it to nothing.
        shape: (height, width, channels) of that node's output: grayscale images become ones with
            three equal channels, and images that are too small are enlarged to the usual size.

    Raises:
        GraphError: the shape is not that of an image in grayscale or color, or there is no such
            node.
    """
    _check_shape(graph, spec, after, shape)
    group = free_name(spec.title, {node.group for node in graph.nodes.values() if node.group})
    block = block_of(spec)
    layers = [block.graph.nodes[key] for key in block.graph.order]
    adapters = list(_adapters(spec, shape))
    added = list(_as_new(graph, (*adapters, *layers), spec, group))
    chain = [node.id for node in added[: len(adapters) + 1]]
    ids = dict(zip(block.graph.order, (node.id for node in added[len(adapters) :]), strict=True))
    edges = [Edge(ids[edge.source], ids[edge.target], edge.port) for edge in block.graph.edges]
    edges += _leading_edges(after, chain, is_gray=shape[2] == 1)
    whole = Graph.of((*graph.nodes.values(), *added), (*graph.edges, *edges))
    return Inserted(whole, chain[0], ids[block.last], tuple(node.id for node in added), group)


def _as_new(graph: Graph, nodes: Sequence[Node], spec: BackboneSpec, group: str) -> Iterator[Node]:
    """Nodes with ids and names that the graph has not, in the group, with their weights."""
    variables = block_of(spec).variables
    number = int(graph.new_id()[1:])
    taken = {node.name for node in graph.nodes.values()}
    for index, node in enumerate(nodes):
        name = free_name(node.name, taken)
        taken.add(name)
        weights = f"{spec.key}/{node.name}" if node.name in variables else ""
        yield replace(
            node,
            id=f"n{number + index}",
            name=name,
            group=group,
            pretrained=weights,
            training="never",
        )


def _leading_edges(after: str, chain: list[str], *, is_gray: bool) -> Iterator[Edge]:
    """Edges from the node in front through the adapters to the block's first layer."""
    sources = [after, *chain[:-1]]
    for index, (source, target) in enumerate(zip(sources, chain, strict=True)):
        ports = _COLORS if is_gray and index == len(chain) - 2 else 1
        yield from (Edge(source, target, port) for port in range(ports) if source)


def _adapters(spec: BackboneSpec, shape: Shape) -> Iterator[Node]:
    """Layers in front that these images need: first to a larger size, then to three channels."""
    if min(shape[:2]) < spec.smallest_side:
        height, width, _ = spec.input_shape
        yield _adapter("small", height=height, width=width)
    if shape[2] == 1:
        yield _adapter("gray")


def _adapter(name: str, **params: Any) -> Node:
    plain = _adapter_resource()[name]
    return Node("", plain["kind"], plain["name"], {**plain["params"], **params})


@cache
def _adapter_resource() -> Mapping[str, Any]:
    plain: Mapping[str, Any] = json.loads(resource_path(_ADAPTERS).read_text(encoding="utf-8"))
    return plain


def _check_shape(graph: Graph, spec: BackboneSpec, after: str, shape: Shape) -> None:
    if after and after not in graph.nodes:
        raise GraphError(f"There is no layer “{after}”.", where=after)
    if len(shape) != 3 or shape[2] not in {1, _COLORS}:
        raise GraphError(
            f"{spec.title} takes images only.",
            where=graph.nodes[after].name if after else spec.title,
            received=f"a shape of {' × '.join(map(str, shape))}",
            expected="height × width × 3 channels, or 1 for grayscale",
            fix="Insert it right behind Input.",
        )
