"""Node names as Keras layers can bear them, and the split for the input pipeline."""

from __future__ import annotations

import pytest

from tests.core.checks.test_shapes import INPUT, chain
from workbench.core.network.graph import Edge, Graph, Node, is_valid_name, keras_names, valid_name
from workbench.core.network.roles import pipeline_nodes
from workbench.layers import all_layers

LAYERS = all_layers()


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("conv_1", "conv_1"),
        ("Block 1/a", "Block_1_a"),
        ("_hidden", "hidden"),
        ("größe", "gr_e"),
        ("", "dense"),
        ("日本", "dense"),
        ("a" * 300, "a" * 100),
    ],
)
def test_valid_name(name, valid):
    assert valid_name(name, "dense") == valid
    assert is_valid_name(valid)


def test_keras_names_are_valid_and_different():
    names = ["a b", "a_b", "a/b", "a_b", "", "x"]
    graph = Graph.of([Node(f"n{i}", "dense", name) for i, name in enumerate(names)])
    made = keras_names(graph)
    assert made["n1"] == "a_b"
    assert made["n5"] == "x"
    assert len(set(made.values())) == len(names)
    assert all(is_valid_name(name) for name in made.values())


def test_pipeline_is_the_unbroken_chain_behind_input():
    graph = chain(INPUT, ("random_flip", {}), ("rescaling", {}), ("conv2d", {}), ("rescaling", {}))
    assert pipeline_nodes(graph, LAYERS) == ("b", "c")


def test_pipeline_ends_where_the_graph_branches():
    graph = chain(INPUT, ("rescaling", {}), ("rescaling", {}), ("flatten", {}))
    branched = graph.with_node(Node("x", "flatten", "x")).with_edge(Edge("b", "x"))
    assert pipeline_nodes(graph, LAYERS) == ("b", "c")
    assert pipeline_nodes(branched, LAYERS) == ("b",)
    assert pipeline_nodes(branched.with_edge(Edge("a", "x", 1)), LAYERS) == ()


def test_no_pipeline_without_one_input():
    assert pipeline_nodes(Graph(), LAYERS) == ()
    graph = chain(INPUT, ("rescaling", {})).with_node(Node("z", "input", "z"))
    assert pipeline_nodes(graph, LAYERS) == ()
