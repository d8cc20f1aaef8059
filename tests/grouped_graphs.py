"""Graphs whose nodes belong to groups."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from workbench.core.network.graph import Edge, Graph, Node


def row(*words: str) -> Graph:
    """Nodes in a row; "a:B" is the node a in the group B."""
    parts = [word.partition(":") for word in words]
    nodes = [Node(key, "relu", key, group=group) for key, _, group in parts]
    return Graph.of(nodes, [Edge(a.id, b.id) for a, b in pairwise(nodes)])


@st.composite
def grouped_graphs(draw: st.DrawFn) -> Graph:
    """Up to twelve nodes, each in one of three groups or in none, and edges downwards."""
    count = draw(st.integers(1, 12))
    groups = draw(st.lists(st.sampled_from(["", "A", "B", "C"]), min_size=count, max_size=count))
    nodes = [Node(f"n{i}", "add", f"add_{i}", group=group) for i, group in enumerate(groups)]
    pairs = draw(st.sets(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))))
    graph = Graph.of(nodes)
    for above, below in sorted(pairs):
        if above < below:
            target = f"n{below}"
            graph = graph.with_edge(Edge(f"n{above}", target, graph.free_port(target)))
    return graph
