"""Pointing at a network as hands do: lines, edges of the canvas, keys that move and fit."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt

from tests.gui.design.hand import Hand
from workbench.core.network.graph import Edge
from workbench.templates import find_template

ALT = Qt.KeyboardModifier.AltModifier
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
HEIGHTS = (0.03, 0.15, 0.3, 0.5, 0.7, 0.85, 0.97)


def of_kind(document, kind: str, index: int = 0) -> str:
    return [node.id for node in document.graph.nodes.values() if node.kind == kind][index]


@pytest.fixture
def lenet(panel, document):
    document.new(find_template("lenet5").project)
    return panel


def into_flatten(document) -> Edge:
    (edge,) = document.graph.edges_into(of_kind(document, "flatten"))
    assert document.graph.nodes[edge.source].kind == "average_pooling2d"
    return edge


@pytest.mark.parametrize("zoom", [1.0, 0.8])
@pytest.mark.parametrize("part", HEIGHTS)
def test_a_click_anywhere_on_a_connection_selects_it(lenet, document, hand, zoom, part) -> None:
    edge = into_flatten(document)
    lenet.view.set_zoom(zoom)
    top, bottom = (QPointF(*spot) for spot in lenet.scene.edges[edge].route)
    lenet.view.center_on(top)
    lenet.select([of_kind(document, "conv2d")])
    hand.click(top + (bottom - top) * part)
    assert lenet.scene.selected_ids() == []
    assert lenet.scene.selected_edges() == [edge]
    before = document.graph
    hand.key(Qt.Key.Key_Delete)
    assert edge not in document.graph.edges
    assert document.graph.nodes == before.nodes


def test_a_thin_line_is_hit_beside_it_from_far_away(lenet, document, hand) -> None:
    edge = into_flatten(document)
    lenet.view.set_zoom(0.4)
    middle = lenet.scene.edges[edge].middle_point()
    lenet.view.center_on(middle)
    lenet.select([of_kind(document, "conv2d")])
    hand.click(middle + QPointF(12, 0))
    assert lenet.scene.selected_edges() == [edge]


def test_of_two_lines_the_nearer_one_is_selected(small, document, hand) -> None:
    added = document.add_node("add", (300.0, 300.0))
    document.connect("n2", added)
    document.connect("n3", added)
    lines = [small.scene.edges[edge] for edge in document.graph.edges_into(added)]
    for line in lines:
        spot = QPointF(*line.route[-1]) - QPointF(0, 1)
        hand.click(spot)
        assert small.scene.selected_edges() == [line.edge]


def test_a_port_without_a_line_selects_its_card(small, hand) -> None:
    hand.click(small.scene.nodes["n4"].output_point() + QPointF(0, 6))
    assert small.scene.selected_ids() == ["n4"]


def test_ctrl_and_shift_add_a_connection_near_its_port(small, document, hand) -> None:
    small.select(["n1"])
    near_port = small.scene.nodes["n2"].output_point() + QPointF(0, 5)
    hand.click(near_port, modifiers=CTRL)
    assert small.scene.selected_edges() == [Edge("n2", "n3")]
    assert small.scene.selected_ids() == ["n1"]
    hand.click(near_port, modifiers=CTRL)
    assert small.scene.selected_edges() == []
    hand.click(near_port, modifiers=SHIFT)
    assert small.scene.selected_edges() == [Edge("n2", "n3")]


# the edge of the canvas -----------------------------------------------------------------


def at_left_edge(panel) -> QPointF:
    return panel.view.mapToScene(5, panel.view.viewport().height() // 2)


def test_a_layer_coming_in_over_the_edge_does_not_scroll(small, hand) -> None:
    shown = small.view.visible_rect()
    assert hand.enter("dropout", at_left_edge(small))
    hand.drag_over(at_left_edge(small))
    assert not small.view._scroller.ticks.isActive()
    inside = small.view.mapToScene(small.view.viewport().rect().center())
    hand.drag_over(inside)
    assert not small.view._scroller.wait.isActive()
    assert small.view.visible_rect() == shown
    hand.drag_over(at_left_edge(small))  # back again: now it is meant
    assert small.view._scroller.ticks.isActive()
    small.view._scroller.ticks.timeout.emit()
    assert small.view.visible_rect().left() < shown.left()
    hand.leave()
    assert not small.view._scroller.ticks.isActive()


def test_a_layer_that_waits_at_the_edge_scrolls(small, hand) -> None:
    shown = small.view.visible_rect()
    hand.enter("dropout", at_left_edge(small))
    wait = small.view._scroller.wait
    assert wait.isActive()
    assert wait.interval() == 500
    wait.timeout.emit()
    assert small.view._scroller.ticks.isActive()
    small.view._scroller.ticks.timeout.emit()
    assert small.view.visible_rect().left() < shown.left()
    hand.leave()
    assert not wait.isActive()


# keys -----------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [CTRL, ALT], ids=["ctrl", "alt"])
def test_arrows_nudge_also_where_the_window_manager_takes_alt(small, document, hand, keys) -> None:
    before = dict(document.positions)
    small.select(["n2"])
    hand.key(Qt.Key.Key_Right, keys)
    hand.key(Qt.Key.Key_Down, keys | SHIFT)
    assert document.positions["n2"] == (before["n2"][0] + 4, before["n2"][1] + 40)
    assert small.scene.selected_ids() == ["n2"]
    document.undo_stack.undo()
    assert document.positions == before


@pytest.mark.parametrize(
    ("key", "modifiers"), [(Qt.Key.Key_1, SHIFT), (Qt.Key.Key_Home, Qt.KeyboardModifier(0))]
)
def test_keys_that_fit_all(lenet, hand: Hand, key, modifiers) -> None:
    lenet.view.set_zoom(2.0)
    hand.key(key, modifiers)
    assert lenet.view.visible_rect().contains(lenet.scene.content_rect())


def test_shift_2_fits_the_selection_and_ctrl_0_is_100_percent(lenet, document, hand) -> None:
    ids = [of_kind(document, "conv2d", index) for index in (0, 1)]
    lenet.select(ids)
    lenet.view.set_zoom(3.0)
    lenet.view.center_on(QPointF(4000, 4000))
    hand.key(Qt.Key.Key_2, SHIFT)
    shown = lenet.view.visible_rect()
    assert all(shown.contains(lenet.scene.nodes[key].card_rect()) for key in ids)
    lenet.view.set_zoom(0.5)
    hand.key(Qt.Key.Key_0, CTRL)
    assert lenet.view.zoom == 1.0
