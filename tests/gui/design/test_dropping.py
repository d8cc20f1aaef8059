"""Dropping cards, layers, connections and copies: they go where hands expect them."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QCursor

from tests.gui.design.hand import chain, hint
from workbench.core.network.graph import Edge
from workbench.core.projects.project import Project
from workbench.document.placement import aside
from workbench.templates import find_template

ALT = Qt.KeyboardModifier.AltModifier
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def center(panel, key: str) -> QPointF:
    return panel.scene.nodes[key].card_rect().center()


def nothing_covered(panel) -> bool:
    boxes = panel.scene.boxes().values()
    return not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


def gap(panel, source: str, target: str) -> QPointF:
    """The middle between two cards of a column."""
    return (center(panel, source) + center(panel, target)) / 2


# layers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("beside", [-110, -33, 33, 110])
def test_the_whole_gap_of_a_column_inserts(small, document, hand, beside) -> None:
    place = gap(small, "n2", "n3") + QPointF(beside, 3)
    hand.enter("batch_normalization", place)
    assert hint(small) == "Insert between conv2d and flatten"
    assert hand.drop(place)
    (added,) = small.scene.selected_ids()
    assert document.graph.sources(added) == ("n2",)
    assert document.graph.targets(added) == ("n3",)
    assert nothing_covered(small)


def test_beside_the_column_a_layer_stays_free(small, document, hand) -> None:
    hand.drop_layer("dropout", gap(small, "n1", "n2") + QPointF(300, 0))
    (added,) = small.scene.selected_ids()
    assert not document.graph.edges_into(added)


@pytest.mark.parametrize("shift", [(150, 10), (-170, 20), (200, -30)])
def test_a_layer_is_never_dropped_over_a_card(small, document, hand, shift) -> None:
    document.add_node("add", (600.0, 300.0))
    place = QPointF(600 + 118, 318) + QPointF(*shift)
    hand.drop_layer("input", place)
    assert nothing_covered(small)
    (added,) = small.scene.selected_ids()
    assert (center(small, added) - place).manhattanLength() < 320


def test_the_ghost_is_where_the_layer_will_be(small, document, hand) -> None:
    document.add_node("add", (600.0, 300.0))
    place = QPointF(800, 330)
    hand.enter("input", place)
    ghost = small.view.gesture._ghost.sceneBoundingRect().center()
    hand.drop(place)
    (added,) = small.scene.selected_ids()
    assert (center(small, added) - ghost).manhattanLength() < 2


def test_inputs_by_keyboard_and_palette_cover_nothing(panel, document) -> None:
    document.new(find_template("lenet5").project)
    for _ in range(3):
        panel.adder.add("input")
    assert nothing_covered(panel)


@pytest.mark.parametrize("shift", [0.1, 1 / 3, 0.7])
def test_aside_of_a_card_between_pixels_comes_to_an_end(shift) -> None:
    """Rounding leaves a part of a card that is too small to be moved by."""
    cards = [(0.1, 90.3 * row, 236.1, 90.3 * row + 52.7) for row in range(9)]
    block = [(shift, 100.7 + shift, 236 + shift, 152.7 + shift)]
    dx, dy = aside(block, cards)
    left, top, right, bottom = (a + b for a, b in zip(block[0], (dx, dy, dx, dy), strict=True))
    assert all(min(x1 - left, y1 - top, right - x0, bottom - y0) < 0.01 for x0, y0, x1, y1 in cards)


# cards ----------------------------------------------------------------------------------


def test_a_card_dropped_on_a_connection_moves_there(panel, document, layers, hand) -> None:
    document.new(Project(graph=chain(layers, "input", "relu", "conv2d", "flatten", "dense")))
    panel.view.set_zoom(0.8)
    before, places = document.graph, dict(document.positions)
    hand.press(center(panel, "n2"))
    hand.move(gap(panel, "n3", "n4"))
    assert hint(panel) == "Insert between conv2d and flatten"
    assert panel.scene.edges[Edge("n3", "n4")].is_hot
    levels = {key: item.zValue() for key, item in panel.scene.nodes.items()}
    assert levels["n2"] > levels["n3"] == levels["n4"]
    hand.release(gap(panel, "n3", "n4"))
    assert document.graph.edges == (
        Edge("n1", "n3"),
        Edge("n2", "n4"),
        Edge("n3", "n2"),
        Edge("n4", "n5"),
    )
    assert not panel.scene.edges[Edge("n4", "n5")].is_hot
    assert len({item.zValue() for item in panel.scene.nodes.values()}) == 1
    assert nothing_covered(panel)
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undoText() == "Move relu between conv2d and flatten"
    document.undo_stack.undo()
    assert (document.graph, document.positions) == (before, places)
    assert panel.scene.nodes["n2"].pos().toTuple() == places["n2"]


def test_a_loose_card_dropped_on_a_connection_is_inserted(small, document, hand) -> None:
    added = document.add_node("dropout", (500.0, 100.0))
    small.view.set_zoom(0.8)
    hand.drag(center(small, added), gap(small, "n2", "n3") + QPointF(60, 0))
    assert document.graph.sources(added) == ("n2",)
    assert document.graph.targets(added) == ("n3",)


@pytest.mark.parametrize("way", ["escape", "shift", "several"])
def test_a_card_is_only_moved_when_that_is_meant(small, document, hand, way) -> None:
    added = document.add_node("dropout", (500.0, 100.0))
    small.view.set_zoom(0.8)
    before = document.graph
    if way == "several":
        small.select([added, "n1"])
    held = SHIFT if way == "shift" else Qt.KeyboardModifier.NoModifier
    hand.press(center(small, added))
    place = gap(small, "n2", "n3")
    hand.move(place, modifiers=held)
    if way == "escape":
        hand.key(Qt.Key.Key_Escape)
        assert hint(small) == ""
        assert not any(line.is_hot for line in small.scene.edges.values())
    hand.release(place, modifiers=held)
    assert document.graph == before
    if way == "shift":  # exactly there, even over other cards
        assert center(small, added).y() == pytest.approx(place.y(), abs=2)


def test_a_merge_layer_keeps_its_connections_when_it_is_moved(small, document, hand) -> None:
    added = document.add_node("add", (500.0, 300.0))
    document.connect("n1", added)
    document.connect("n2", added)
    before = document.graph
    hand.drag(center(small, added), gap(small, "n2", "n3"))
    assert document.graph == before
    assert nothing_covered(small)


def test_moved_cards_step_aside(small, document, hand) -> None:
    hand.drag(center(small, "n4"), center(small, "n2") + QPointF(30, 10))
    assert nothing_covered(small)
    assert document.undo_stack.undoText() == "Move dense"


@pytest.mark.parametrize("held", [ALT, CTRL], ids=["alt", "ctrl"])
def test_a_drag_with_alt_or_ctrl_duplicates(small, document, hand, held) -> None:
    places = dict(document.positions)
    small.select(["n1"])
    start, end = center(small, "n2"), center(small, "n2") + QPointF(400, 30)
    hand.press(start, modifiers=held)
    hand.move(end, modifiers=held)
    assert hint(small) == "Duplicate conv2d"
    assert small.scene.nodes["n2"].pos().toTuple() == places["n2"]
    hand.release(end, modifiers=held)
    (copy,) = small.scene.selected_ids()
    assert document.graph.nodes[copy].kind == "conv2d"
    assert center(small, copy).toTuple() == pytest.approx(end.toTuple(), abs=8)
    assert {key: document.positions[key] for key in places} == places
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undoText() == "Duplicate Conv2D"


def test_escape_ends_a_duplicating_drag(small, document, hand) -> None:
    count = len(small.scene.items())
    hand.press(center(small, "n2"), modifiers=CTRL)
    hand.move(center(small, "n2") + QPointF(400, 30), modifiers=CTRL)
    assert len(small.scene.items()) > count
    hand.key(Qt.Key.Key_Escape)
    assert small.view.gesture is None
    assert not document.undo_stack.count()
    assert small.scene.nodes["n2"].pos().toTuple() == document.positions["n2"]


# connections ----------------------------------------------------------------------------


def test_a_connection_dropped_on_an_occupied_input_replaces_it(small, document, hand) -> None:
    hand.press(small.scene.nodes["n1"].output_point() + QPointF(0, 4))
    hand.move(center(small, "n3"))
    assert hint(small).startswith("Replace the connection from conv2d")
    hand.release(center(small, "n3"))
    assert document.graph.sources("n3") == ("n1",)
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.graph.sources("n3") == ("n2",)


def test_of_two_occupied_inputs_the_nearer_is_replaced(small, document, hand) -> None:
    added = document.add_node("subtract", (500.0, 300.0))
    document.connect("n1", added)
    document.connect("n2", added)
    first, second = (small.scene.edges[e] for e in document.graph.edges_into(added))
    for line, kept in ((first, second), (second, first)):
        hand.press(small.scene.nodes["n3"].output_point() + QPointF(0, 4))
        hand.move(line.end_point() + QPointF(0, 3))
        hand.release(line.end_point() + QPointF(0, 3))
        assert document.graph.edges_into(added)[line.edge.port].source == "n3"
        assert kept.edge in document.graph.edges
        document.undo_stack.undo()


def test_a_cycle_is_still_refused_at_an_occupied_input(small, document, hand) -> None:
    hand.press(small.scene.nodes["n4"].output_point())
    hand.move(center(small, "n2"))
    assert "create a cycle" in hint(small)
    hand.release(center(small, "n2"))
    assert not document.undo_stack.count()


# copies ---------------------------------------------------------------------------------


def test_copies_step_aside(small, document, hand) -> None:
    small.select(["n2", "n3"])
    hand.key(Qt.Key.Key_C, CTRL)
    QCursor.setPos(small.view.mapToGlobal(small.view.mapFromScene(center(small, "n2"))))
    for _ in range(3):
        hand.key(Qt.Key.Key_V, CTRL)
    small.select(["n4"])
    for _ in range(3):
        hand.key(Qt.Key.Key_D, CTRL)
    assert len(document.graph.nodes) == 4 + 3 * 2 + 3
    assert nothing_covered(small)
