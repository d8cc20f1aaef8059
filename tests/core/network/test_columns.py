"""A long network is laid out in columns beside each other."""

from __future__ import annotations

from itertools import pairwise

import pytest

from workbench.backbones import all_backbones, insert_backbone
from workbench.core.network.folding import arrange_blocks
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.layout import NODE_WIDTH, node_sizes
from workbench.layers import all_layers

LAYERS = all_layers()


def chain(count):
    nodes = [Node(f"n{i}", "relu", f"relu_{i}") for i in range(count)]
    return Graph.of(nodes, [Edge(a.id, b.id) for a, b in pairwise(nodes)])


def extent(places, sizes):
    right = max(places[key][0] + sizes[key][0] for key in places)
    bottom = max(places[key][1] + sizes[key][1] for key in places)
    return right - min(x for x, _ in places.values()), bottom - min(y for _, y in places.values())


def overlapping(places, sizes):
    boxes = [
        (*places[key], places[key][0] + sizes[key][0], places[key][1] + sizes[key][1])
        for key in places
    ]
    return [
        (a, b)
        for number, a in enumerate(boxes)
        for b in boxes[:number]
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
    ]


def test_a_short_network_is_one_column():
    graph = chain(14)
    places = arrange_blocks(graph, node_sizes(graph, LAYERS), ())
    assert {x for x, _ in places.values()} == {0}


@pytest.mark.parametrize("count", [30, 60, 144])
def test_a_long_network_is_wrapped_into_columns_read_from_top_to_bottom(count):
    graph = chain(count)
    sizes = node_sizes(graph, LAYERS)
    places = arrange_blocks(graph, sizes, ())
    wide, high = extent(places, sizes)
    assert 0.6 < wide / high < 2.2
    assert overlapping(places, sizes) == []
    order = [places[f"n{i}"] for i in range(count)]
    for (x, y), (next_x, next_y) in pairwise(order):
        assert (next_x == x and next_y > y) or (next_x > x + NODE_WIDTH and next_y == 0)


@pytest.mark.parametrize("key", list(all_backbones()))
def test_the_layers_of_a_pretrained_network_fit_a_canvas(key):
    start = Graph.of([Node("n1", "input", "input", {"shape": (224, 224, 3)})])
    graph = insert_backbone(start, all_backbones()[key], "n1", (224, 224, 3)).graph
    sizes = node_sizes(graph, LAYERS)
    places = arrange_blocks(graph, sizes, ())
    wide, high = extent(places, sizes)
    assert 0.4 < wide / high < 2.5
    assert overlapping(places, sizes) == []
