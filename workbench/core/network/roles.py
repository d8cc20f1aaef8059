"""Layers by what they are for the network as a whole."""

from workbench.core.network.graph import Graph, Node
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec, Role


def specs_of(layers: Registry[LayerSpec], role: Role) -> list[LayerSpec]:
    """The layer types of a role, by key."""
    return [spec for spec in layers.values() if spec.role is role]


def has_role(node: Node, layers: Registry[LayerSpec], role: Role) -> bool:
    """Whether a node is of a layer type of that role."""
    spec = layers.get(node.kind)
    return spec is not None and spec.role is role


def input_nodes(graph: Graph, layers: Registry[LayerSpec]) -> list[Node]:
    """Where pictures come in: one node, unless the network is not finished."""
    return [node for node in graph.nodes.values() if has_role(node, layers, Role.INPUT)]


def input_node(graph: Graph, layers: Registry[LayerSpec]) -> Node | None:
    """The one Input; None where there is none, or more than one."""
    nodes = input_nodes(graph, layers)
    return nodes[0] if len(nodes) == 1 else None
