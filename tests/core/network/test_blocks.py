"""Places of groups: what makes way for one comes back when it is folded again."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.grouped_graphs import grouped_graphs, row
from workbench.core.network.folding import (
    FRAME_TOP,
    GROUP_HEIGHT,
    Blocks,
    Folding,
    arrange_blocks,
    card_id,
    frame_of,
    group_of,
    refolded,
)
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.layout import NODE_HEIGHT, NODE_WIDTH, arrange

NAMES = st.sets(st.sampled_from("ABC"))


def usual(graph):
    return dict.fromkeys(graph.nodes, (NODE_WIDTH, NODE_HEIGHT))


def boxes(graph, places, folded):
    """Each card, and the frame of each open group that can be one piece: left, top, right, low."""
    sizes = usual(graph)
    shown = Folding.of(graph, folded)
    blocks = Blocks.of(shown, places, sizes)
    cards = {
        key: (x, y, x + blocks.sizes[key][0], y + blocks.sizes[key][1])
        for key, (x, y) in blocks.places.items()
    }
    for card, ids in Folding.of(graph, graph.groups).members.items():
        if card not in shown.members:
            frame = frame_of(ids, places, sizes)
            cards = {key: box for key, box in cards.items() if key not in ids}
            cards[card] = frame.left, frame.top, frame.right, frame.bottom
    return cards


def overlap(a, b):
    return min(a[2], b[2]) - max(a[0], b[0]) > 0 and min(a[3], b[3]) - max(a[1], b[1]) > 0


@given(graph=grouped_graphs(), names=NAMES)
@settings(max_examples=150, deadline=None)
def test_arranged_groups_cover_nothing(graph, names) -> None:
    places = arrange_blocks(graph, usual(graph), names)
    assert places.keys() == graph.nodes.keys()
    cards = list(boxes(graph, places, names).items())
    for i, (key, box) in enumerate(cards):
        for other, other_box in cards[i + 1 :]:
            assert not overlap(box, other_box), (key, other)


@given(graph=grouped_graphs(), before=NAMES, after=NAMES)
@settings(max_examples=150, deadline=None)
def test_opening_and_folding_again_moves_nothing(graph, before, after) -> None:
    assume(len(Folding.of(graph, graph.groups).members) == len(graph.groups))
    sizes = usual(graph)
    before = {group_of(card) for card in Folding.of(graph, before | after).members}
    after &= before
    places = arrange_blocks(graph, sizes, before)
    there = refolded(graph, places, sizes, before, after)
    assert refolded(graph, there, sizes, after, before) == places


@given(graph=grouped_graphs(), name=st.sampled_from("ABC"), is_opened=st.booleans())
@settings(max_examples=150, deadline=None)
def test_what_is_behind_a_group_makes_room_or_closes_the_gap(graph, name, is_opened) -> None:
    assume(len(Folding.of(graph, graph.groups).members) == len(graph.groups))
    sizes = usual(graph)
    before, after = set("ABC"), set("ABC") - {name}
    if not is_opened:
        before, after = after, before
    places = arrange_blocks(graph, sizes, before)
    there = refolded(graph, places, sizes, before, after)
    cards = list(boxes(graph, there, after).items())
    for i, (key, box) in enumerate(cards):
        for other, other_box in cards[i + 1 :]:
            assert not overlap(box, other_box), (key, other)


def test_the_column_stays_straight_and_its_gap_closes() -> None:
    graph = row("in", "a:A", "b:A", "c:A", "out")
    sizes = usual(graph)
    opened = arrange_blocks(graph, sizes, ())
    assert len({x for x, _ in opened.values()}) == 1
    folded = refolded(graph, opened, sizes, (), {"A"})
    place = Blocks.of(Folding.of(graph, {"A"}), folded, sizes).places[card_id("A")]
    assert place == (opened["a"][0], opened["a"][1] - FRAME_TOP)
    assert (
        folded["out"][1] - place[1] - GROUP_HEIGHT
        == opened["out"][1] - frame_of(["a", "b", "c"], opened, sizes).bottom
    )


def test_a_moved_card_takes_its_layers_along() -> None:
    graph = row("in", "a:A", "b:A", "out")
    places = arrange_blocks(graph, usual(graph), {"A"})
    blocks = Blocks.of(Folding.of(graph, {"A"}), places, usual(graph))
    x, y = blocks.places[card_id("A")]
    moved = blocks.moved({card_id("A"): (x + 30, y - 5), "out": (1.0, 2.0)}, places)
    assert moved == {
        "in": places["in"],
        "a": (places["a"][0] + 30, places["a"][1] - 5),
        "b": (places["b"][0] + 30, places["b"][1] - 5),
        "out": (1.0, 2.0),
    }


def test_without_groups_it_is_the_usual_arrangement() -> None:
    graph = row("in", "a", "out")
    assert arrange_blocks(graph, usual(graph), ()) == arrange(graph, usual(graph))


def test_a_group_with_a_layer_that_has_no_place_has_none():
    nodes = [Node(key, "relu", key, group="A") for key in "ab"]
    graph = Graph.of([*nodes, Node("c", "relu", "c")], [Edge("a", "b"), Edge("b", "c")])
    shown = Folding.of(graph, {"A"})
    blocks = Blocks.of(shown, {"a": (0.0, 0.0), "c": (0.0, 90.0)}, usual(graph))
    assert blocks.places.keys() == {"c"}
