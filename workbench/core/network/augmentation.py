"""The augmentation layers of a network: those of the input pipeline that change images at random.
Pure functions from a graph to a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.core.network.graph import Edge, Graph
from workbench.core.network.roles import Layers, input_node, pipeline_nodes
from workbench.core.specs import LayerSpec
from workbench.errors import GraphError


def is_augmentation(spec: LayerSpec | None) -> bool:
    """Whether a layer type runs in the input pipeline only: it changes training images."""
    return spec is not None and spec.place == "pipeline"


def augmentation_nodes(graph: Graph, layers: Layers) -> tuple[str, ...]:
    """Ids of the augmentation layers in the order in which images go through them."""
    chain = pipeline_nodes(graph, layers)
    return tuple(key for key in chain if is_augmentation(layers.get(graph.nodes[key].kind)))


def end_of_augmentation(graph: Graph, layers: Layers) -> str:
    """The node behind which a further augmentation layer goes: the last one, or Input.

    Raises:
        GraphError: there is not exactly one Input.
    """
    start, chain = input_node(graph, layers), augmentation_nodes(graph, layers)
    if start is None:
        raise GraphError(
            "The network does not have exactly one Input layer.",
            fix="Add an Input layer; augmentation comes right behind it.",
        )
    return chain[-1] if chain else start.id


def reordered(graph: Graph, old: Sequence[str], new: Sequence[str]) -> Graph:
    """The graph with some nodes, of one input and one output each, in each other's places.

    Args:
        graph: The network.
        old: The nodes, by place.
        new: The same nodes: which is to be in each of these places.
    """
    at = dict(zip(old, new, strict=True))
    edges = (
        Edge(at.get(edge.source, edge.source), at.get(edge.target, edge.target), edge.port)
        for edge in graph.edges
    )
    nodes = dict(graph.nodes)
    for key, put in at.items():  # a group keeps its places
        nodes[put] = replace(graph.nodes[put], group=graph.nodes[key].group)
    return Graph.of(nodes.values(), edges)
