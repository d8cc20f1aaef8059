"""How many classes a network scores, and another number of them."""

from __future__ import annotations

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.roles import num_outputs, with_num_outputs
from workbench.layers import all_layers

LAYERS = all_layers()


def _chain(*kinds: str) -> Graph:
    nodes = [Node(f"n{i}", kind, f"{kind}_{i}") for i, kind in enumerate(kinds, 1)]
    return Graph.of(nodes, [Edge(f"n{i}", f"n{i + 1}") for i in range(1, len(kinds))])


def test_the_dense_layer_before_softmax_makes_the_scores() -> None:
    graph = _chain("input", "flatten", "dense", "dense", "softmax").with_params("n4", units=3)
    assert num_outputs(graph, LAYERS) == 3
    other = with_num_outputs(graph, LAYERS, 5)
    assert num_outputs(other, LAYERS) == 5
    assert other.nodes["n3"] == graph.nodes["n3"]


def test_without_a_dense_layer_at_the_only_end_it_is_not_known() -> None:
    two_ends = Graph.of(
        [*_chain("input", "flatten", "dense").nodes.values(), Node("n4", "dense", "other")],
        [Edge("n1", "n2"), Edge("n2", "n3"), Edge("n2", "n4")],
    )
    for graph in (_chain("input", "flatten"), two_ends, Graph()):
        assert num_outputs(graph, LAYERS) is None
        assert with_num_outputs(graph, LAYERS, 5) is graph
