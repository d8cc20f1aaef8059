"""The end of a network: the node whose output is the answer, and what stands before it."""

from collections.abc import Mapping
from typing import Any

from workbench.core.network.graph import Graph
from workbench.core.network.roles import input_nodes
from workbench.core.registry import Registry
from workbench.core.specs import SOFTMAX, VALUE_CATEGORIES, LayerSpec, Role


def find_outputs(graph: Graph, layers: Registry[LayerSpec]) -> tuple[str, ...]:
    """Ids of the nodes that data from Input reaches and that feed no other node."""
    reached = {node.id for node in input_nodes(graph, layers)}
    for node_id in graph.order:
        if not reached.isdisjoint(graph.sources(node_id)):
            reached.add(node_id)
    return tuple(node for node in graph.order if node in reached and not graph.edges_from(node))


def param_value(graph: Graph, layers: Registry[LayerSpec], node_id: str, key: str) -> Any:
    """The value of a parameter with its default; None for a parameter the node lacks."""
    node = graph.nodes[node_id]
    spec = layers.get(node.kind)
    values: Mapping[str, Any] = {} if spec is None else spec.defaults()
    return node.params.get(key, values.get(key)) if key in values else None


def ends_in_softmax(graph: Graph, layers: Registry[LayerSpec], output: str) -> bool:
    """True when the output node gives probabilities, not logits."""
    spec = layers.get(graph.nodes[output].kind)
    if spec is None or spec.activation is None:
        return spec is not None and spec.role is Role.SOFTMAX
    return bool(param_value(graph, layers, output, spec.activation.key) == SOFTMAX)


def tail(graph: Graph, layers: Registry[LayerSpec], output: str) -> tuple[str, ...]:
    """The output node and, before it, those that only change the values of its scores.

    From the end to the start; the last one is the layer that makes the scores.
    """
    nodes = [output]
    while True:
        spec = layers.get(graph.nodes[nodes[-1]].kind)
        sources = graph.sources(nodes[-1])
        changes_values = spec is not None and spec.category in VALUE_CATEGORIES
        if not changes_values or len(sources) != 1:
            return tuple(nodes)
        nodes.append(sources[0])
