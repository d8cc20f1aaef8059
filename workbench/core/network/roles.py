"""Nodes by what they are for in a network: where images come in, what runs in the input
pipeline, what gives the answer, and what computes in float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core.network.graph import Graph, Node
from workbench.core.registry import Registry
from workbench.core.specs import SOFTMAX, VALUE_CATEGORIES, LayerSpec, Role, Shape

Layers = Registry[LayerSpec]
"""The layer types by key."""


def specs_of(layers: Layers, role: Role) -> list[LayerSpec]:
    """The layer types of a role, by key."""
    return [spec for spec in layers.values() if spec.role is role]


def has_role(node: Node, layers: Layers, role: Role) -> bool:
    """Whether a node is of a layer type of that role."""
    spec = layers.get(node.kind)
    return spec is not None and spec.role is role


def input_nodes(graph: Graph, layers: Layers) -> list[Node]:
    """The Input nodes: one, unless the network is not finished."""
    return [node for node in graph.nodes.values() if has_role(node, layers, Role.INPUT)]


def shape_params(spec: LayerSpec, shape: Shape | None) -> dict[str, Any]:
    """Parameters of a new layer: an Input has the shape of the images, where that is known."""
    is_wanted = spec.role is Role.INPUT and shape is not None and len(shape) == 3
    return {spec.params[0].key: shape} if is_wanted else {}


def input_node(graph: Graph, layers: Layers) -> Node | None:
    """The one Input; None where there is none, or more than one."""
    nodes = input_nodes(graph, layers)
    return nodes[0] if len(nodes) == 1 else None


def pipeline_nodes(graph: Graph, layers: Layers) -> tuple[str, ...]:
    """Ids of the nodes right behind Input that run in the input pipeline, in order.

    They form one unbroken chain of layers whose place is "pipeline" or "either": it ends
    at the first other layer, and where the graph branches.
    """
    start = input_node(graph, layers)
    if start is None:
        return ()
    chain: list[str] = []
    at = start.id
    while True:
        targets = graph.targets(at)
        if len(targets) != 1 or len(graph.edges_into(targets[0])) != 1:
            return tuple(chain)
        at = targets[0]
        spec = layers.get(graph.nodes[at].kind)
        if spec is None or spec.place == "model":
            return tuple(chain)
        chain.append(at)


def find_outputs(graph: Graph, layers: Layers) -> tuple[str, ...]:
    """Ids of the nodes that data from Input reaches and that feed no other node."""
    reached = {node.id for node in input_nodes(graph, layers)}
    for node_id in graph.order:
        if not reached.isdisjoint(graph.sources(node_id)):
            reached.add(node_id)
    return tuple(node for node in graph.order if node in reached and not graph.edges_from(node))


def param_value(graph: Graph, layers: Layers, node_id: str, key: str) -> Any:
    """The value of a parameter with its default; None for a parameter the node lacks."""
    node = graph.nodes[node_id]
    spec = layers.get(node.kind)
    values: Mapping[str, Any] = {} if spec is None else spec.defaults()
    return node.params.get(key, values.get(key)) if key in values else None


def ends_in_softmax(graph: Graph, layers: Layers, output: str) -> bool:
    """True when the output node gives probabilities, not logits."""
    spec = layers.get(graph.nodes[output].kind)
    if spec is None or spec.activation is None:
        return spec is not None and spec.role is Role.SOFTMAX
    return bool(param_value(graph, layers, output, spec.activation.key) == SOFTMAX)


def tail(graph: Graph, layers: Layers, output: str) -> tuple[str, ...]:
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


def float32_nodes(graph: Graph, layers: Layers) -> frozenset[str]:
    """Ids of the nodes that make scores and probabilities, and of those through which
    TensorFlow learns in float32 only, in a network with one output.
    """
    fragile = {
        node.id
        for node in graph.nodes.values()
        if (spec := layers.get(node.kind)) is not None
        and spec.needs_float32({**spec.defaults(), **node.params})
    }
    return frozenset({*tail(graph, layers, find_outputs(graph, layers)[0]), *fragile})
