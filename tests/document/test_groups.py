"""Groups of layers: folding, opening, and edits of a card as edits of its layers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.grouped_graphs import row
from workbench.core.checks.images import DatasetFacts
from workbench.core.network.folding import card_id
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Project, View
from workbench.core.projects.project_file import parse_project, project_text
from workbench.errors import GraphError, InputError, ParamError

BLOCK = card_id("block")


@pytest.fixture
def grouped(document):
    """Input, a block of three layers, Dense."""
    kinds = ("input", "conv2d", "batch_normalization", "relu", "flatten", "dense")
    nodes = [
        Node(f"n{i}", kind, kind, group="block" if 2 <= i <= 4 else "")
        for i, kind in enumerate(kinds, 1)
    ]
    edges = [Edge(f"n{i}", f"n{i + 1}") for i in range(1, 6)]
    document.new(Project(graph=Graph.of(nodes, edges), view=View(folded=frozenset({"block"}))))
    return document


def order(document):
    return [document.graph.nodes[key].name for key in document.graph.order]


def undo_all(document):
    while document.undo_stack.canUndo():
        document.undo_stack.undo()


def test_folding_is_kept_in_the_file_and_is_no_edit(grouped):
    start = grouped.project
    assert list(grouped.shown.graph.nodes) == ["n1", BLOCK, "n5", "n6"]
    grouped.open_group("block")
    assert grouped.shown.graph is grouped.graph
    assert not grouped.undo_stack.canUndo()
    assert not grouped.is_dirty
    opened = grouped.project
    grouped.fold("block")
    assert grouped.project == start
    assert parse_project(project_text(opened), "p").view.folded == frozenset()
    assert parse_project(project_text(start), "p").view.folded == {"block"}
    grouped.open_group("block")
    assert grouped.project == opened


def test_folding_leaves_undo_and_redo_and_survives_them(grouped):
    start, units = grouped.project, "Change units of dense"
    grouped.set_params("n6", units=7)
    grouped.set_params("n2", filters=9)
    edited = grouped.project
    grouped.undo_stack.undo()
    grouped.open_group("block")
    assert grouped.undo_stack.undoText() == units
    assert grouped.undo_stack.redoText() == "Change filters of conv2d"
    assert grouped.is_dirty
    grouped.undo_stack.undo()
    assert grouped.shown.graph is grouped.graph
    assert not grouped.is_dirty
    grouped.undo_stack.redo()
    grouped.undo_stack.redo()
    assert grouped.graph == edited.graph
    assert grouped.folded == frozenset()
    grouped.fold("block")
    assert grouped.project == edited
    undo_all(grouped)
    assert grouped.project == start


def test_steps_beyond_a_folding_do_not_merge_and_groups_come_back_as_last_seen(grouped):
    grouped.set_params("n6", units=7)
    grouped.open_group("block")
    grouped.set_params("n6", units=8)
    assert grouped.undo_stack.count() == 2
    name = grouped.group(["n5", "n6"])
    grouped.fold(name)
    undo_all(grouped)
    grouped.undo_stack.setIndex(grouped.undo_stack.count())
    assert grouped.folded == {name}


def test_undo_selects_what_was_selected_however_it_is_folded_now(grouped):
    grouped.selection = ((BLOCK,), ())
    grouped.remove([BLOCK])
    grouped.undo_stack.undo()
    assert grouped.selection == ((BLOCK,), ())
    grouped.set_params("n6", units=7)
    grouped.open_group("block")
    grouped.undo_stack.undo()
    assert grouped.selection == (("n2", "n3", "n4"), ())
    grouped.fold("block")
    grouped.undo_stack.redo()
    assert grouped.selection == ((BLOCK,), ())


def test_connections_lead_to_the_first_layer_and_from_the_last(grouped):
    extra = grouped.add_node("relu", after=BLOCK)
    assert grouped.graph.sources(extra) == ("n4",)
    grouped.disconnect(Edge("n1", BLOCK))
    assert grouped.graph.sources("n2") == ()
    grouped.connect("n1", BLOCK)
    assert grouped.graph.sources("n2") == ("n1",)
    assert "only one input" in grouped.connection_problem(extra, BLOCK)
    other = grouped.add_node("input")
    (taken,) = grouped.taken_inputs(BLOCK)
    assert grouped.connection_problem(other, BLOCK, taken.port, replacing=[taken]) == ""
    grouped.connect(other, BLOCK, taken.port, replacing=[taken])
    assert grouped.graph.sources("n2") == (other,)


def test_a_layer_dropped_on_the_connection_of_a_card_is_beside_the_group(grouped):
    added = grouped.add_node("dropout", edge=Edge(BLOCK, "n5"))
    assert grouped.graph.sources(added) == ("n4",)
    assert grouped.graph.nodes[added].group == ""
    places = grouped.shown_positions
    assert places[BLOCK][1] < places[added][1] < places["n5"][1]
    before = grouped.insert_before("rescaling", BLOCK)
    after = grouped.insert_after("relu", BLOCK)
    assert grouped.graph.sources("n2") == (before,)
    assert grouped.graph.sources(added) == (after,)


def test_a_layer_between_two_of_a_group_belongs_to_it(grouped):
    grouped.open_group("block")
    added = grouped.add_node("dropout", edge=Edge("n3", "n4"))
    assert grouped.graph.nodes[added].group == "block"
    assert grouped.graph.groups["block"] == ("n2", "n3", added, "n4")


def test_an_edit_of_a_card_is_one_of_all_its_layers(grouped):
    x, y = grouped.shown_positions[BLOCK]
    hidden = dict(grouped.positions)
    grouped.move({BLOCK: (x + 50, y)})
    assert grouped.undo_stack.undoText() == "Move block"
    moved = {key for key, place in grouped.positions.items() if place != hidden[key]}
    assert moved == {"n2", "n3", "n4"}
    grouped.detach(BLOCK)
    assert grouped.graph.sources("n5") == ("n1",)
    assert grouped.graph.edges_into("n2") == ()
    assert grouped.graph.sources("n4") == ("n3",)
    grouped.move_onto(BLOCK, Edge("n5", "n6"), (0.0, 0.0))
    assert order(grouped)[-1] == "dense"
    assert grouped.graph.sources("n2") == ("n5",)
    assert grouped.graph.sources("n6") == ("n4",)
    grouped.bypass(BLOCK)
    assert order(grouped) == ["input", "flatten", "dense"]
    assert grouped.graph.sources("n6") == ("n5",)
    undo_all(grouped)
    grouped.remove([BLOCK])
    assert grouped.undo_stack.undoText() == "Remove block"
    assert order(grouped) == ["input", "flatten", "dense"]
    assert grouped.graph.sources("n5") == ("n1",)
    assert grouped.folded == frozenset()


def test_a_copied_group_gets_a_name_of_its_own_and_stays_folded(grouped):
    (copy,) = grouped.duplicate([BLOCK])
    assert copy == card_id("block_2")
    assert grouped.folded == {"block", "block_2"}
    assert len(grouped.graph.groups["block_2"]) == 3
    text = grouped.copy_text([BLOCK, copy])
    assert grouped.paste(text) == [card_id("block_3"), card_id("block_4")]
    places = grouped.shown_positions
    assert len({places[key] for key in places}) == len(places)


def test_a_copy_of_a_part_of_a_group_belongs_to_none(grouped):
    grouped.open_group("block")
    (copy,) = grouped.duplicate(["n2"])
    assert grouped.graph.nodes[copy].group == ""
    with pytest.raises(InputError):
        grouped.paste("nothing")


def test_layers_become_a_group_and_are_on_their_own_again(grouped):
    name = grouped.group(["n5", "n6"])
    assert name == "block_2"
    assert grouped.graph.groups[name] == ("n5", "n6")
    assert name not in grouped.folded
    grouped.fold(name)
    assert list(grouped.shown.graph.nodes) == ["n1", BLOCK, card_id(name)]
    assert grouped.selected_group([card_id(name)]) == name
    grouped.rename_group(name, " head ")
    assert grouped.folded == {"block", "head"}
    assert grouped.selected_group([BLOCK, card_id("head")]) == ""
    grouped.ungroup("head", "block")
    assert grouped.graph.groups == {}
    assert grouped.shown.graph is grouped.graph
    undo_all(grouped)
    assert list(grouped.shown.graph.nodes) == ["n1", BLOCK, "n5", "n6"]


def test_wrong_names_of_groups_are_refused(grouped):
    name = grouped.group(["n5", "n6"])
    with pytest.raises(GraphError, match="Another group"):
        grouped.rename_group(name, "block")
    before = grouped.project
    grouped.rename_group(name, f" {name} ")
    assert grouped.project == before
    for wrong in ("", "  ", "a\nb", "x" * 101):
        with pytest.raises(ParamError):
            grouped.rename_group(name, wrong)
    grouped.rename(BLOCK, "body")
    assert grouped.folded == {"body"}


def test_a_project_with_other_edits_forgets_what_was_found_of_its_data(grouped):
    grouped.set_dataset_facts(DatasetFacts((8, 8, 1), 3, "mine"))
    assert grouped.dataset_facts.title == "mine"
    grouped.new(replace(grouped.project, edits=DataEdits(classes={"a": "b"})))
    assert grouped.dataset_facts is None or grouped.dataset_facts.title != "mine"


def test_a_group_around_another_layer_cannot_be_folded(grouped):
    name = grouped.group(["n1", "n6"])
    with pytest.raises(GraphError, match="between its layers") as caught:
        grouped.fold(name)
    assert "“conv2d”" in caught.value.what
    assert name not in grouped.folded


def test_two_groups_that_feed_each_other_cannot_both_be_folded(document):
    nodes = [*row("n1:A", "n2:B").nodes.values(), *row("n3:B", "n4:A").nodes.values()]
    document.new(Project(graph=Graph.of(nodes, [Edge("n1", "n2"), Edge("n3", "n4")])))
    document.fold("A")
    with pytest.raises(GraphError, match="form a cycle"):
        document.fold("B")


def test_arranging_keeps_a_folded_group_small(grouped):
    grouped.move({"n5": (900.0, 5.0)})
    grouped.arrange()
    places = grouped.shown_positions
    assert len({places[key][0] for key in places}) == 1
    assert places["n5"][1] - places[BLOCK][1] < 200
    grouped.open_group("block")
    tops = [grouped.positions[key][1] for key in grouped.graph.order]
    assert tops == sorted(tops)
    assert tops[-2] - tops[3] > 60


def test_a_fix_within_a_folded_group_stays_in_it(grouped):
    graph = grouped.graph.with_params("n2", strides=(4, 4), kernel_size=(9, 9))
    grouped.new(Project(graph=graph, view=View(folded=frozenset({"block"}))))
    added = Node("n9", "dropout", "dropout")
    edge = Edge("n3", "n4")
    after = graph.without_edge(edge).with_node(added)
    after = after.with_edge(Edge("n3", "n9")).with_edge(Edge("n9", "n4"))
    grouped._push_new_nodes("Fix", after, {})
    assert list(grouped.shown.graph.nodes) == ["n1", BLOCK, "n5", "n6"]
    assert grouped.graph.groups["block"] == ("n2", "n3", "n9", "n4")


def test_one_line_stands_for_all_that_a_layer_feeds_in_a_group(document):
    """As of grayscale images that become three channels in front of a pretrained network."""
    kinds = {"n1": "input", "n2": "concatenate", "n3": "conv2d", "n4": "flatten"}
    nodes = [
        Node(k, kind, kind, group="block" if k in {"n2", "n3"} else "") for k, kind in kinds.items()
    ]
    inputs = [Edge("n1", "n2", port) for port in range(3)]
    graph = Graph.of(nodes, [*inputs, Edge("n2", "n3"), Edge("n3", "n4")])
    document.new(Project(graph=graph, view=View(folded=frozenset({"block"}))))
    line = Edge("n1", BLOCK)
    assert set(document.shown.graph.edges) == {line, Edge(BLOCK, "n4")}
    added = document.add_node("rescaling", edge=line)
    assert document.graph.sources("n2") == (added,) * 3
    assert document.graph.sources(added) == ("n1",)
    other = document.add_node("input")
    into = Edge(added, BLOCK)
    assert document.connection_problem(other, BLOCK, replacing=[into]) == ""
    document.connect(other, BLOCK, replacing=[into])
    assert document.graph.sources("n2") == (other,) * 3
    document.undo_stack.undo()
    document.undo_stack.undo()
    document.undo_stack.undo()
    end = document.add_node("dense", after="n4")
    assert document.can_move_onto(BLOCK, Edge("n4", end))
    document.move_onto(BLOCK, Edge("n4", end), (0.0, 500.0))
    assert document.graph.sources("n2") == ("n4",) * 3
    assert document.graph.sources("n4") == ("n1",)
    document.undo_stack.undo()
    document.remove([BLOCK])
    assert document.graph.sources("n4") == ("n1",)
    document.undo_stack.undo()
    document.disconnect(line)
    assert document.graph.sources("n2") == ()
