"""The graph as a value: what every change gives, and what it refuses."""

from __future__ import annotations

import random

import pytest

from tests.strategies import random_valid_graph
from workbench.core.network.graph import Edge, Graph, Node
from workbench.errors import GraphError
from workbench.layers import all_layers


def nodes(*names):
    return [Node(name, "relu", name.upper()) for name in names]


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([Edge("a", "x")], "no layer “x”"),
        ([Edge("a", "b"), Edge("c", "b")], "Input 1 of “B” is already connected to “A”"),
        ([Edge("a", "b"), Edge("a", "b")], "is already connected"),
        ([Edge("a", "b"), Edge("b", "c"), Edge("c", "a")], "cycle"),
        ([Edge("a", "a")], "cycle"),
    ],
)
def test_wrong_graphs_are_refused(edges, words):
    with pytest.raises(GraphError, match=words):
        Graph.of(nodes("a", "b", "c"), edges)


def test_doubled_ids_are_refused():
    with pytest.raises(GraphError, match="Two layers"):
        Graph.of(nodes("a", "a"))


def test_an_edge_is_added_and_removed_without_changing_the_graph():
    graph = Graph.of(nodes("a", "b", "c"), [Edge("a", "b")])
    more = graph.with_edge(Edge("b", "c"))
    assert graph.edges == (Edge("a", "b"),)
    assert more.edges == (Edge("a", "b"), Edge("b", "c"))
    assert more.without_edge(Edge("b", "c")) == graph


def test_an_edge_back_names_both_nodes():
    graph = Graph.of(nodes("a", "b", "c"), [Edge("a", "b"), Edge("b", "c")])
    with pytest.raises(GraphError, match="“C” already depends on “A”") as caught:
        graph.with_edge(Edge("c", "a"))
    assert "cycle" in str(caught.value)
    with pytest.raises(GraphError, match="is already connected"):
        graph.with_edge(Edge("a", "c"))


def test_ports_keep_their_order_and_gaps_are_filled():
    graph = Graph.of(nodes("a", "b", "m"), [Edge("b", "m", 2), Edge("a", "m", 0)])
    assert graph.sources("m") == ("a", "b")
    assert graph.free_port("m") == 1


def test_order_puts_every_node_behind_what_feeds_it():
    for seed in range(60):
        graph = random_valid_graph(random.Random(seed), all_layers())
        place = {node_id: number for number, node_id in enumerate(graph.order)}
        assert len(place) == len(graph.nodes)
        assert all(place[edge.source] < place[edge.target] for edge in graph.edges)
        for node_id in graph.nodes:
            assert all(place[behind] > place[node_id] for behind in graph.descendants(node_id))
            assert graph.ancestors(node_id) == {
                other for other in graph.nodes if node_id in graph.descendants(other)
            }


def test_built_step_by_step_it_is_the_same_graph():
    for seed in range(60):
        rng = random.Random(seed)
        graph = random_valid_graph(rng, all_layers())
        again = Graph()
        for node in graph.nodes.values():
            again = again.with_node(node)
        edges = list(graph.edges)
        rng.shuffle(edges)
        for edge in edges:
            again = again.with_edge(edge)
        assert again == graph


def test_new_ids_and_names_are_free():
    graph = Graph.of([Node("n7", "relu", "relu"), Node("x", "relu", "relu_2")])
    assert graph.new_id() == "n8"
    assert graph.new_name("relu") == "relu_3"
    assert graph.new_name("elu") == "elu"


def test_removed_nodes_take_their_edges_along():
    graph = Graph.of(nodes("a", "b", "c"), [Edge("a", "b"), Edge("b", "c")])
    left = graph.without_nodes(["b"])
    assert set(left.nodes) == {"a", "c"}
    assert left.edges == ()


def test_equal_nodes_have_equal_hashes():
    one, other = (Node("n1", "dense", "dense", {"units": units}) for units in (1, 1))
    assert one == other
    assert len({one, other}) == 1
