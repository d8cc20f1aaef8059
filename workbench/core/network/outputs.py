"""The dense layer that makes a network's scores, and how many classes it scores."""

from __future__ import annotations

from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers, find_outputs, has_role, param_value, tail
from workbench.core.specs import Role


def num_outputs(graph: Graph, layers: Layers) -> int | None:
    """How many classes the network scores; None where no dense layer makes the scores of its only
    output.
    """
    node_id = _scores(graph, layers)
    if node_id is None:
        return None
    width = layers[graph.nodes[node_id].kind].width
    units: int | None = param_value(graph, layers, node_id, width)
    return units


def with_num_outputs(graph: Graph, layers: Layers, num_classes: int) -> Graph:
    """The graph with scores for so many classes; unchanged where `num_outputs` is None."""
    node_id = _scores(graph, layers)
    if node_id is None:
        return graph
    return graph.with_params(node_id, **{layers[graph.nodes[node_id].kind].width: num_classes})


def _scores(graph: Graph, layers: Layers) -> str | None:
    outputs = find_outputs(graph, layers)
    if len(outputs) != 1:
        return None
    last = tail(graph, layers, outputs[0])[-1]
    return last if has_role(graph.nodes[last], layers, Role.DENSE) else None
