"""Edges run around cards, in lanes of their own."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.network.graph import Edge
from workbench.core.network.routing import Box, Router, end_points


def box(x: float, y: float) -> Box:
    return Box(x, y, x + 236, y + 52)


def test_a_column_is_joined_by_straight_lines() -> None:
    routes = Router({"a": box(0, 0), "b": box(0, 88)}).route_all([Edge("a", "b")])
    assert routes[Edge("a", "b")] == ((118, 52), (118, 88))


def test_a_skip_runs_beside_the_cards_it_passes() -> None:
    boxes = {key: box(0, 100 * i) for i, key in enumerate("abcd")}
    edges = [Edge("a", "b"), Edge("b", "c"), Edge("c", "d"), Edge("a", "d", 1)]
    route = Router(boxes).route_all(edges)[Edge("a", "d", 1)]
    assert len(route) == 4
    assert route[1][0] == route[2][0] == 236 + 12


def test_skips_of_different_nodes_do_not_share_a_lane() -> None:
    boxes = {key: box(0, 100 * i) for i, key in enumerate("abcdef")}
    outer, inner = Edge("a", "f"), Edge("b", "e")
    routes = Router(boxes).route_all([outer, inner])
    assert abs(routes[outer][1][0] - routes[inner][1][0]) >= 12


def test_an_edge_upwards_goes_around_both_cards() -> None:
    boxes = {"a": box(0, 300), "b": box(0, 0)}
    route = Router(boxes).route_all([Edge("a", "b")])[Edge("a", "b")]
    assert route[0] == (118, 352)
    assert route[-1] == (118, 0)
    assert min(abs(x - 118) for x, _ in route[2:4]) > 118


def test_lines_end_in_the_order_they_come_from() -> None:
    boxes = {"left": box(-300, 0), "mid": box(0, 0), "right": box(300, 0), "add": box(0, 120)}
    edges = [Edge("right", "add", 0), Edge("mid", "add", 1), Edge("left", "add", 2)]
    ends = end_points(edges, boxes)
    xs = [ends[Edge("left", "add", 2)][0], ends[edges[1]][0], ends[edges[0]][0]]
    assert xs == sorted(xs)
    assert xs[1] == 118


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 8)), min_size=3, max_size=12, unique=True)
)
@settings(max_examples=80, deadline=None)
def test_no_lane_runs_through_a_card(cells) -> None:
    boxes = {f"n{i}": box(300 * x, 110 * y) for i, (x, y) in enumerate(cells)}
    edges = [Edge("n0", key) for key in list(boxes)[1:]]
    for edge, route in Router(boxes).route_all(edges).items():
        for (x0, y0), (x1, y1) in itertools.pairwise(route):
            if x0 != x1 or len(route) == 2:
                continue
            low, high = sorted((y0, y1))
            for key, card in boxes.items():
                if key not in {edge.source, edge.target}:
                    is_beside = x0 <= card.left or x0 >= card.right
                    assert is_beside or card.bottom <= low or card.top >= high


def test_a_card_is_given_by_its_edges() -> None:
    assert box(10, 20).card == (10, 20, 246, 72)


def test_an_edge_past_a_card_in_a_low_space_turns_in_its_middle() -> None:
    boxes = {"a": box(0, 0), "b": Box(0, 60, 236, 90), "c": box(0, 112)}
    route = Router(boxes).route_all([Edge("a", "c")])[Edge("a", "c")]
    assert [y for _, y in route] == [52, 82, 82, 112]
    assert route[1][0] >= 236
