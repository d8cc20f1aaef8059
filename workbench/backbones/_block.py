"""The layers of a pretrained network as its resource has them. Not a plug-in itself."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import takewhile
from typing import Any

from workbench.assets import resource_path
from workbench.core.network.graph import Graph, Node
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.specs import BackboneSpec, PretrainedLayer, Shape, ValueRange

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
