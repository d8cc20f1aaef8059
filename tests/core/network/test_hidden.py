from __future__ import annotations

import pytest

from tests.worker.conftest import chain
from workbench.core.network.graph import Edge, Node
from workbench.core.network.roles import last_hidden
from workbench.layers import all_layers

KERNELS = {"dense", "conv2d"}
SOFTMAX = ("dense", {"units": 3, "activation": "softmax"})
INPUT = ("input", {"shape": (8, 8, 1)})


def kind_of_hidden(graph):
    found = last_hidden(graph, all_layers(), lambda node: graph.nodes[node].kind in KERNELS)
    return graph.nodes[found].kind if found is not None else None


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        ([("flatten", {}), ("dense", {"units": 4}), ("dropout", {}), SOFTMAX], "dropout"),
        ([("flatten", {}), ("relu", {}), ("dense", {"units": 3}), ("softmax", {})], "relu"),
        ([("relu", {}), ("conv2d", {}), ("global_average_pooling2d", {}), ("softmax", {})], "relu"),
        ([("flatten", {}), ("softmax", {})], None),
    ],
)
def test_it_is_what_the_layer_of_the_scores_takes(layers, expected):
    assert kind_of_hidden(chain(INPUT, *layers)) == expected


def test_scores_of_several_layers_have_none():
    graph = chain(INPUT, ("flatten", {}))
    end = graph.order[-1]
    for name in ("left", "right"):
        graph = graph.with_node(Node(name, "dense", name, {"units": 3})).with_edge(Edge(end, name))
    graph = graph.with_node(Node("sum", "add", "sum", {}))
    graph = graph.with_edge(Edge("left", "sum", port=0)).with_edge(Edge("right", "sum", port=1))
    assert kind_of_hidden(graph) is None
