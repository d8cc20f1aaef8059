"""Edits of the graph, and where new layers are put."""

from __future__ import annotations

import pytest

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.layout import NODE_WIDTH
from workbench.document.graph_edits import checked_params, connection_problem, connection_warning
from workbench.document.placement import between, complete, free_place
from workbench.errors import GraphError
from workbench.layers import all_layers

LAYERS = all_layers()


def test_a_connection_that_cannot_be_made_has_no_warning():
    graph = Graph.of([Node("a", "flatten", "flatten"), Node("b", "flatten", "flatten_2")])
    assert connection_warning(graph, "a", [("a", None)], LAYERS) == ""
    assert connection_problem(graph, "a", [("a", None)], LAYERS)


def test_values_of_an_unknown_layer_are_taken_as_they_are():
    node = Node("a", "of_a_newer_version", "new")
    assert checked_params(node, {"anything": [1]}, LAYERS) == {"anything": [1]}


def test_a_new_node_goes_above_what_it_feeds_or_where_there_is_room():
    graph = Graph.of([Node("a", "input", "input"), Node("b", "flatten", "flatten")])
    graph = graph.with_edge(Edge("a", "b"))
    positions = {"b": (40.0, 300.0)}
    x, y = between(graph, positions, {}, "a")
    assert x == 40.0
    assert y < 300.0
    assert between(graph, {}, {}, "a") == free_place({}, {}, "a", (0.0, 0.0)) == (0.0, 0.0)


def test_layers_without_a_place_are_put_beside_those_that_have_one():
    """As from a project file that another program has added layers to."""
    graph = Graph.of([Node("a", "input", "a"), Node("b", "flatten", "b"), Node("c", "dense", "c")])
    graph = graph.with_edge(Edge("a", "b")).with_edge(Edge("b", "c"))
    found = complete(graph, {"a": (500.0, 70.0), "gone": (9.0, 9.0)}, {})
    assert found["a"] == (500.0, 70.0)
    assert sorted(found) == ["a", "b", "c"]
    (b_x, b_y), (c_x, c_y) = found["b"], found["c"]
    assert min(b_x, c_x) >= 500.0 + NODE_WIDTH
    assert c_y > b_y
    assert complete(graph, found, {}) == found


def test_a_layer_goes_into_the_connection_above_another_or_above_the_first(document):
    flat = document.add_node("flatten")
    above = document.insert_before("conv2d", flat)
    between = document.insert_before("relu", flat)
    graph = document.graph
    assert (graph.sources(above), graph.sources(between), graph.sources(flat)) == (
        (),
        (above,),
        (between,),
    )


def test_the_first_layer_is_never_inserted_after_another(document):
    conv = document.add_node("conv2d")
    before = document.graph
    with pytest.raises(GraphError, match="Input is the first layer and takes no connection") as e:
        document.insert_after("input", conv)
    assert e.value.fix
    assert document.graph == before
