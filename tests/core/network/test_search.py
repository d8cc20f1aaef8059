"""Layers of a network are found by what people read on them."""

from __future__ import annotations

import pytest

from tests.big_network import deep_project
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.roles import NetworkSearch
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec

LAYERS = Registry.from_package("workbench.layers", LayerSpec)


@pytest.fixture
def graph():
    nodes = (
        Node("n1", "input", "input", {"shape": (32, 32, 3)}),
        Node("n2", "conv2d", "stem", {"filters": 32, "activation": "relu"}),
        Node("n3", "conv2d", "conv_b", {"filters": 320, "kernel_size": (5, 3)}),
        Node("n4", "dropout", "drop", {"rate": 0.25}),
        Node("n5", "flatten", "flatten", {}),
        Node("n6", "dense", "head", {"units": 3200}),
        Node("n7", "hologram", "strange", {"secret": 7}),
    )
    pairs = ("n1 n2", "n2 n3", "n3 n4", "n4 n5", "n5 n6", "n6 n7")
    return Graph.of(nodes, [Edge(*pair.split()) for pair in pairs])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("conv2d", "n2 n3"),
        ("CONV", "n2 n3"),
        ("stem", "n2"),
        ("relu", "n2"),
        ("32", "n1 n2"),
        ("filters 320", "n3"),
        ("5x3", "n3"),
        ("5 × 3", "n3"),
        ("conv 5x3", "n3"),
        ("0.25", "n4"),
        ("25%", "n4"),
        ("3200", "n6"),
        ("3,200", "n6"),
        ("units", "n6"),
        ("hologram", "n7"),
        ("strange", "n7"),
        ("conv relu 320", ""),
        ("xyzzy", ""),
        ("", ""),
        (" ( ", ""),
    ],
)
def test_words_find_layers(graph, text, found):
    assert NetworkSearch(LAYERS).find(graph, text) == tuple(found.split())


def test_what_has_changed_is_found_anew(graph):
    search = NetworkSearch(LAYERS)
    assert search.find(graph, "tanh") == ()
    assert search.find(graph.with_params("n2", activation="tanh"), "tanh") == ("n2",)
    assert search.find(graph, "tanh") == ()


def test_the_words_of_a_large_network_are_found_some_layers_at_a_time():
    graph, search = deep_project(20).graph, NetworkSearch(LAYERS)
    turns = 1
    while search.prepare(graph, 30):
        turns += 1
    assert turns == 3  # of 83 layers
    assert len(search._words) == len(graph.nodes)
    known = dict(search._words)
    assert len(search.find(graph, "conv2d")) == 20
    assert all(search._words[key] is known[key] for key in known)  # the first letter finds none
