"""Which nodes run in the input pipeline on the host, and which in the model."""

from workbench.core.network.graph import Graph
from workbench.core.network.roles import input_node
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec


def pipeline_nodes(graph: Graph, layers: Registry[LayerSpec]) -> tuple[str, ...]:
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
