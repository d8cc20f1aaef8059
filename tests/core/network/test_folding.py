"""Folding shows a graph differently and changes nothing of it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grouped_graphs import grouped_graphs, row
from workbench.core.network.folding import Folding, between, card_id, group_of, is_card
from workbench.core.network.graph import Edge, Graph


@given(graph=grouped_graphs(), names=st.sets(st.sampled_from("ABCX")))
@settings(max_examples=200, deadline=None)
def test_each_layer_is_shown_once_and_each_edge_is_one_of_the_graph(graph, names) -> None:
    shown = Folding.of(graph, names)
    assert shown.full is graph
    assert not shown.graph.has_cycle()
    folded = {group_of(card) for card in shown.members}
    assert folded <= names & graph.groups.keys()
    layers = shown.layers_of(shown.graph.nodes)
    assert sorted(layers) == sorted(graph.nodes)
    for key in graph.nodes:
        assert shown.shown_id(key) in shown.graph.nodes
        assert is_card(shown.shown_id(key)) == (graph.nodes[key].group in folded)
    real = [each for edge in shown.graph.edges for each in shown.edges_of(edge)]
    assert len(set(real)) == len(real)
    for edge in shown.graph.edges:
        assert len({each.source for each in shown.edges_of(edge)}) == 1
        assert len(shown.edges_of(edge)) == 1 or is_card(edge.target)
    for edge in graph.edges:
        ends = shown.shown_id(edge.source), shown.shown_id(edge.target)
        if ends[0] == ends[1] and is_card(ends[0]):
            assert edge not in real
            continue
        seen = shown.shown_edge(edge)
        assert seen is not None
        assert (seen.source, seen.target) == ends
        assert edge in shown.edges_of(seen)
    ports = [(edge.target, edge.port) for edge in shown.graph.edges]
    assert len(set(ports)) == len(ports)


@given(graph=grouped_graphs(), name=st.sampled_from("ABC"))
@settings(max_examples=200, deadline=None)
def test_a_group_is_folded_unless_something_lies_between_its_layers(graph, name) -> None:
    shown = Folding.of(graph, {name})
    has_card = card_id(name) in shown.members
    assert has_card == (name in graph.groups and not between(graph, graph.groups[name]))


@given(graph=grouped_graphs())
@settings(max_examples=100, deadline=None)
def test_connections_of_a_card_are_those_of_its_layers(graph) -> None:
    shown = Folding.of(graph, graph.groups)
    for card, ids in shown.members.items():
        assert list(ids) == [key for key in graph.order if key in ids]
        assert shown.entry(card) in ids
        assert shown.exit(card) in ids
        into = shown.graph.edges_into(card)
        ends = {real.target for edge in into for real in shown.edges_of(edge)}
        assert len(ends) != 1 or shown.entry(card) in ends


def test_two_groups_that_would_feed_each_other_are_not_both_folded() -> None:
    graph = Graph.of(row("a1:A", "b1:B").nodes.values(), [])
    graph = Graph.of(
        (*graph.nodes.values(), *row("b2:B", "a2:A").nodes.values()),
        [Edge("a1", "b1"), Edge("b2", "a2")],
    )
    assert set(Folding.of(graph, {"A"}).members) == {card_id("A")}
    assert set(Folding.of(graph, {"B"}).members) == {card_id("B")}
    assert set(Folding.of(graph, {"A", "B"}).members) == {card_id("A")}


def test_an_opened_group_is_shown_as_it_is() -> None:
    graph = row("in", "a:A", "b:A", "out")
    assert Folding.of(graph, ()).graph is graph
    shown = Folding.of(graph, {"A"}).graph
    assert list(shown.nodes) == ["in", card_id("A"), "out"]
    assert shown.edges == tuple(sorted((Edge("in", card_id("A")), Edge(card_id("A"), "out"))))
