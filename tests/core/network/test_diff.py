"""What changed between two graphs."""

from __future__ import annotations

from hypothesis import given, settings

from tests.project_strategies import graphs
from workbench.core.network.graph import Edge, Graph, GraphDiff, Node, diff

A, B = Node("a", "input", "input"), Node("b", "dense", "dense", {"units": 10})


def test_each_kind_of_change():
    old = Graph.of([A, B], [Edge("a", "b")])
    new = (
        old.with_params("b", units=5).with_node(Node("c", "relu", "relu")).with_edge(Edge("b", "c"))
    )
    new = new.without_edge(Edge("a", "b"))
    assert diff(old, new) == GraphDiff(("c",), (), ("b",), (Edge("b", "c"),), (Edge("a", "b"),))
    assert diff(old, old.without_nodes(["b"])).removed_nodes == ("b",)


def test_nothing_changed_is_false():
    graph = Graph.of([A, B])
    assert not diff(graph, Graph.of([A, B]))
    assert diff(graph, graph.without_nodes(["a"]))


@given(graphs(), graphs())
@settings(max_examples=50)
def test_applying_a_diff_gives_the_new_graph(old, new):
    change = diff(old, new)
    nodes = {k: n for k, n in old.nodes.items() if k not in change.removed_nodes}
    nodes.update({key: new.nodes[key] for key in (*change.added_nodes, *change.changed_nodes)})
    edges = (set(old.edges) - set(change.removed_edges)) | set(change.added_edges)
    assert nodes == dict(new.nodes)
    assert edges == set(new.edges)
