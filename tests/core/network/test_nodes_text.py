"""Nodes in sentences."""

from __future__ import annotations

import pytest

from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import nodes_text


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (2, "flatten “a” and flatten “b”"),
        (4, "flatten “a”, flatten “b”, flatten “c” and flatten “d”"),
        (6, "flatten “a”, flatten “b”, flatten “c” and 3 more layers"),
    ],
)
def test_of_many_layers_the_first_are_named(count, words):
    graph = Graph()
    for name in "abcdef"[:count]:
        graph = graph.with_node(Node(name, "flatten", name))
    assert nodes_text(graph.nodes, graph, {}) == words
