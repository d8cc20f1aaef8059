"""When layers learn: from a layer on, and what is frozen in front of it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grouped_graphs import grouped_graphs
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.roles import (
    frozen_part,
    keeps_statistics,
    learning_from,
    with_random_weights,
    with_training,
)
from workbench.layers import all_layers

LAYERS = all_layers()


def block() -> Graph:
    kinds = ("input", "conv2d", "batch_normalization", "conv2d", "batch_normalization", "dense")
    nodes = [
        Node(f"n{i}", kind, f"{kind}_{i}", group="base" if 2 <= i <= 5 else "", training="never")
        for i, kind in enumerate(kinds, 1)
    ]
    nodes[-1] = replace(nodes[-1], training="always")
    return Graph.of(nodes, [Edge(f"n{i}", f"n{i + 1}") for i in range(1, 6)])


def test_a_group_learns_from_a_layer_on_but_for_its_statistics() -> None:
    after = learning_from(block(), "n4", "fine_tuning", LAYERS)
    found = {key: node.training for key, node in after.nodes.items()}
    assert found == {
        "n1": "never",
        "n2": "never",
        "n3": "never",
        "n4": "fine_tuning",
        "n5": "never",
        "n6": "always",
    }
    assert learning_from(after, "n2", "always", LAYERS).nodes["n4"].training == "always"


def test_without_a_group_the_network_learns_from_a_layer_on() -> None:
    graph = Graph({k: replace(n, group="") for k, n in block().nodes.items()}, block().edges)
    after = learning_from(graph, "n4", "always", LAYERS)
    found = [after.nodes[key].training for key in after.order]
    assert found == ["never", "never", "never", "always", "always", "always"]
    assert not keeps_statistics(graph, "n5", LAYERS)


def test_random_weights_forget_the_pretrained_ones() -> None:
    graph = Graph({k: replace(n, pretrained=f"net/{k}") for k, n in block().nodes.items()})
    after = with_random_weights(graph, ["n2"])
    assert after.nodes["n2"].pretrained == ""
    assert after.nodes["n3"].pretrained == "net/n3"


@given(graph=grouped_graphs(), training=st.sampled_from(["always", "fine_tuning"]), data=st.data())
@settings(max_examples=100, deadline=None)
def test_what_is_outside_the_group_stays_as_it_is(graph, training, data) -> None:
    key = data.draw(st.sampled_from(sorted(graph.nodes)))
    after = learning_from(graph, key, training, LAYERS)
    group = graph.nodes[key].group
    for other, node in after.nodes.items():
        assert replace(node, training="always") == replace(graph.nodes[other], training="always")
        if group and node.group != group:
            assert node.training == graph.nodes[other].training
    assert after.nodes[key].training == training
    assert after.edges == graph.edges


@given(graph=grouped_graphs(), data=st.data())
@settings(max_examples=100, deadline=None)
def test_no_learning_layer_is_in_or_before_the_frozen_part(graph, data) -> None:
    learning = data.draw(st.sets(st.sampled_from(sorted(graph.nodes))))
    frozen = frozen_part(graph, learning)
    assert not frozen & learning
    for key in graph.nodes.keys() - frozen - learning:
        assert any(key in graph.descendants(each) for each in learning)
    for key in frozen:
        assert not any(key in graph.descendants(each) for each in learning)
    assert all(
        node.training == "never"
        for node in with_training(graph, graph.nodes, "never").nodes.values()
    )
