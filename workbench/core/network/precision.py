"""Which nodes compute in float32 though the recipe asks for less precision."""

from workbench.core.network.graph import Graph
from workbench.core.network.output_node import find_outputs, tail
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec


def float32_nodes(graph: Graph, layers: Registry[LayerSpec]) -> frozenset[str]:
    """Ids of the nodes that make scores and probabilities, and of those through which
    TensorFlow learns in float32 only.

    Args:
        graph: A network with one output.
        layers: The layer types.
    """
    fragile = {
        node.id
        for node in graph.nodes.values()
        if (spec := layers.get(node.kind)) is not None
        and spec.needs_float32({**spec.defaults(), **node.params})
    }
    return frozenset({*tail(graph, layers, find_outputs(graph, layers)[0]), *fragile})
