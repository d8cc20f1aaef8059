"""Groups on the canvas: cards that open in place, frames that fold again."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest

from tests.gui.design.hand import chain, hint
from tests.gui.design.test_menus import choose, right_click, words
from workbench.core.network.folding import card_id
from workbench.core.network.graph import Edge, Graph
from workbench.core.projects.project import Project, View
from workbench.gui.design.canvas.accessible import CanvasInterface
from workbench.gui.design.canvas.blocks import GroupItem
from workbench.gui.design.canvas_panel import png_bytes, svg_bytes

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
BLOCK = card_id("block")


def grouped_chain(layers, folded=("block",)) -> Project:
    """Input, a block of Conv2D, BatchNormalization and ReLU, Flatten, Dense."""
    kinds = ("input", "conv2d", "batch_normalization", "relu", "flatten", "dense")
    graph = chain(layers, *kinds)
    nodes = {
        key: replace(node, group="block" if key in {"n2", "n3", "n4"} else "")
        for key, node in graph.nodes.items()
    }
    return Project(graph=Graph(nodes, graph.edges), view=View(folded=frozenset(folded)))


@pytest.fixture
def grouped(panel, document, layers):
    """The folded block, at 100 %."""
    document.new(grouped_chain(layers))
    panel.view.set_zoom(1.0)
    return panel


@pytest.fixture
def opened(panel, document, layers):
    """The open block, at 100 %."""
    document.new(grouped_chain(layers, ()))
    panel.view.set_zoom(1.0)
    panel.view.reveal(["n2"])
    return panel


def center(panel, key) -> QPointF:
    return panel.scene.nodes[key].card_rect().center()


def title(panel) -> QPointF:
    bar = panel.scene.frames["block"].title_rect()
    return QPointF(bar.left() + 20, bar.center().y())


def test_a_folded_group_is_one_card_with_its_numbers(grouped) -> None:
    item = grouped.scene.nodes[BLOCK]
    assert isinstance(item, GroupItem)
    facts = item.group_facts
    assert (facts.title, facts.num_layers, facts.state) == ("block", "3 layers", "trained")
    assert facts.shape == "30 × 30 × 32"
    assert facts.words == "32 × 32 × 3 → 30 × 30 × 32"
    assert facts.count == "1,024"
    assert facts.accessible_text().startswith("Group block, 3 layers, trained, input 32 by 32")
    assert "3 layers" in grouped.scene.tooltip_at(center(grouped, BLOCK))
    assert set(grouped.scene.edges) == {Edge("n1", BLOCK), Edge("n5", "n6"), Edge(BLOCK, "n5")}


def test_its_button_opens_it_and_that_of_the_frame_folds_it(grouped, document, hand, qtbot) -> None:
    below = grouped.scene.nodes["n5"].pos().y()
    hand.click(grouped.scene.nodes[BLOCK].button_rect().center())
    assert document.folded == frozenset()
    assert set(grouped.scene.nodes) == set(document.graph.nodes)
    assert grouped.scene.nodes["n5"].pos().y() > below
    qtbot.waitUntil(lambda: grouped.scene.selected_ids() == ["n2"])
    frame = grouped.scene.frames["block"]
    for key in ("n2", "n3", "n4"):
        assert frame.area.contains(grouped.scene.nodes[key].card_rect())
    assert not frame.area.intersects(grouped.scene.nodes["n5"].card_rect())
    hand.click(frame.button_rect().center())
    assert document.folded == {"block"}
    assert grouped.scene.frames == {}
    assert grouped.scene.nodes["n5"].pos().y() == below
    qtbot.waitUntil(lambda: grouped.scene.selected_ids() == [BLOCK])


def test_opening_selects_once_in_a_turn_of_its_own(grouped, document, qtbot) -> None:
    """Two turns of the event loop for a hundred cards, and no selection that is gone at once."""
    grouped.select([BLOCK])
    changes = []
    grouped.scene.selection_changed.connect(changes.append)
    grouped.groups.toggle("block")
    assert set(grouped.scene.nodes) == set(document.graph.nodes)
    assert changes == []
    qtbot.waitUntil(lambda: changes == [["n2"]])
    grouped.groups.toggle("block")
    assert changes == [["n2"]]
    qtbot.waitUntil(lambda: changes == [["n2"], [BLOCK]])


def test_a_double_click_opens_and_folds(grouped, document, hand) -> None:
    hand.double_click(center(grouped, BLOCK) - QPointF(60, 20))
    assert document.folded == frozenset()
    hand.double_click(title(grouped))
    assert document.folded == {"block"}


def test_opening_a_card_keeps_redo_and_undo_selects_what_was(grouped, document, hand) -> None:
    hand.click(center(grouped, BLOCK) - QPointF(60, 20))
    document.rename_group("block", "body")
    document.undo_stack.undo()
    assert grouped.scene.selected_ids() == [BLOCK]
    hand.key(Qt.Key.Key_O)
    assert document.folded == frozenset()
    assert document.undo_stack.redoText() == "Rename block to body"
    document.undo_stack.redo()
    assert document.graph.groups.keys() == grouped.scene.frames.keys() == {"body"}


def test_a_drag_of_the_title_moves_all_layers(opened, document, hand) -> None:
    before = dict(document.positions)
    hand.drag(title(opened), title(opened) + QPointF(350, 90), modifiers=SHIFT)
    moved = {key for key in before if document.positions[key] != before[key]}
    assert moved == {"n2", "n3", "n4"}
    assert document.undo_stack.undoText() == "Move block"
    assert opened.scene.frames["block"].is_selected
    document.undo_stack.undo()
    assert dict(document.positions) == before


def test_a_drag_of_the_card_moves_it_and_its_layers(grouped, document, hand) -> None:
    start = center(grouped, BLOCK) - QPointF(60, 20)
    card, hidden = document.shown_positions[BLOCK], document.positions["n3"]
    hand.drag(start, start + QPointF(330, 40), modifiers=SHIFT)
    x, y = document.shown_positions[BLOCK]
    assert (x - card[0], y - card[1]) == (330, 40)
    assert document.positions["n3"] == (hidden[0] + 330, hidden[1] + 40)


def test_a_card_dropped_on_a_connection_goes_there(grouped, document, hand) -> None:
    start = center(grouped, BLOCK) - QPointF(60, 20)
    middle = grouped.scene.edges[Edge("n5", "n6")].middle_point()
    hand.press(start)
    hand.move(start + QPointF(0, 20))
    hand.move(middle - QPointF(60, 20))
    assert hint(grouped) == "Insert between flatten and dense"
    hand.release(middle - QPointF(60, 20))
    assert document.graph.sources("n2") == ("n5",)
    assert document.graph.sources("n6") == ("n4",)
    assert document.graph.sources("n5") == ("n1",)
    places = document.shown_positions
    assert places["n5"][1] < places[BLOCK][1] < places["n6"][1]


def test_delete_and_copies_are_of_the_whole_group(grouped, document, hand) -> None:
    hand.click(center(grouped, BLOCK) - QPointF(60, 20))
    hand.key(Qt.Key.Key_C, CTRL)
    hand.key(Qt.Key.Key_V, CTRL)
    copy = card_id("block_2")
    assert grouped.scene.selected_ids() == [copy]
    assert isinstance(grouped.scene.nodes[copy], GroupItem)
    hand.key(Qt.Key.Key_Delete)
    assert set(document.graph.groups) == {"block"}
    hand.key(Qt.Key.Key_D, CTRL)
    grouped.scene.select([BLOCK])
    hand.key(Qt.Key.Key_Delete)
    assert document.graph.sources("n5") == ("n1",)


def test_ctrl_g_groups_the_selected_layers_and_asks_for_a_name(small, document, hand) -> None:
    small.select(["n2", "n3"])
    small.scene.select(["n2", "n3"])
    hand.key(Qt.Key.Key_G, CTRL)
    assert document.graph.groups == {"block": ("n2", "n3")}
    box = small.rename_box
    assert box.isVisible()
    QTest.keyClicks(box, "body")
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert document.graph.groups == {"body": ("n2", "n3")}
    assert small.scene.selected_group() == "body"
    hand.key(Qt.Key.Key_G, CTRL | SHIFT)
    assert document.graph.groups == {}
    assert small.scene.selected_ids() == ["n2", "n3"]
    assert small.scene.frames == {}


def test_f2_renames_a_group_on_its_card(grouped, document, hand) -> None:
    grouped.scene.select([BLOCK])
    hand.key(Qt.Key.Key_F2)
    QTest.keyClicks(grouped.rename_box, "features")
    QTest.keyClick(grouped.rename_box, Qt.Key.Key_Return)
    assert set(document.graph.groups) == {"features"}
    assert grouped.scene.nodes[card_id("features")].facts.title == "features"


def test_the_menu_of_a_title_is_about_the_group(opened, document) -> None:
    menu = right_click(opened, title(opened))
    assert opened.scene.selected_ids() == ["n2", "n3", "n4"]
    assert {"Ungroup", "Fold or open group", "Freeze layers"} <= set(words(menu))
    choose(menu, "Fold or open group")
    assert document.folded == {"block"}
    menu = right_click(opened, center(opened, BLOCK) - QPointF(60, 20))
    choose(menu, "Ungroup")
    assert document.graph.groups == {}
    assert opened.scene.selected_ids() == ["n2", "n3", "n4"]


def test_a_group_around_another_layer_says_why_it_stays_open(small, document, hand) -> None:
    small.scene.select(["n1", "n3"])
    hand.key(Qt.Key.Key_G, CTRL)
    QTest.keyClick(small.rename_box, Qt.Key.Key_Escape)
    hand.key(Qt.Key.Key_O)
    assert "between its layers" in hint(small)
    assert document.folded == frozenset()


def test_typing_in_the_find_bar_shows_the_card_and_enter_opens_it(grouped, document) -> None:
    grouped.find_bar.open()
    QTest.keyClicks(grouped.find_bar.field, "batch_norm")
    assert grouped.scene.selected_ids() == [BLOCK]
    assert grouped.find_bar.count.text() == "1 of 1"
    assert document.folded == {"block"}
    QTest.keyClick(grouped.find_bar.field, Qt.Key.Key_Return)
    assert document.folded == frozenset()
    assert grouped.scene.selected_ids() == ["n3"]


def test_a_problem_within_a_folded_group_is_shown_on_its_card(grouped, document) -> None:
    document.set_params("n2", kernel_size=(40, 40))
    facts = grouped.scene.nodes[BLOCK].facts
    assert facts.severity == "error"
    problem = facts.problems[0]
    assert problem.node == "n2"
    assert grouped.scene.card is not None
    assert grouped.scene.card.problem == problem
    grouped.show_problem(problem)
    assert document.folded == frozenset()
    assert grouped.scene.selected_ids() == ["n2"]


def test_the_arrows_walk_over_a_folded_group(grouped, hand) -> None:
    grouped.scene.select(["n1"])
    hand.key(Qt.Key.Key_Down)
    assert grouped.scene.selected_ids() == [BLOCK]
    hand.key(Qt.Key.Key_Down)
    assert grouped.scene.selected_ids() == ["n5"]


def test_a_screen_reader_finds_the_group_as_one(grouped) -> None:
    canvas = CanvasInterface(grouped.view)
    assert canvas.childCount() == 4
    child = canvas.child(1)
    assert child is not None
    assert child.text(QAccessible.Text.Name).startswith("Group block, 3 layers")


def test_a_drawing_has_the_card_and_the_frame(grouped, document) -> None:
    folded = svg_bytes(grouped.scene)
    assert b"block" in folded
    document.open_group("block")
    assert svg_bytes(grouped.scene) != folded
    assert png_bytes(grouped.scene).startswith(b"\x89PNG")


def test_the_title_of_a_frame_says_frozen_or_leaves_it_out(opened, document) -> None:
    document.set_training(["n2", "n3", "n4"], "never")
    counts, name = [], "block"
    for length in range(5, 45):
        document.rename_group(name, name := "b" * length)
        words = re.findall(">([^<>]+)</text>", svg_bytes(opened.scene).decode())
        assert not [text for text in words if re.fullmatch("f[a-z]{0,2}…", text)], name
        counts.append(words.count("frozen"))
    assert (counts[0], counts[-1]) == (1, 0)


def test_the_overview_has_the_frame(grouped, document, qtbot) -> None:
    before = grouped.overlays.minimap.grab().toImage()
    document.open_group("block")
    assert grouped.overlays.minimap.grab().toImage() != before


def test_a_layer_dropped_into_an_open_group_belongs_to_it(opened, document, hand) -> None:
    hand.drop_layer("dropout", opened.scene.edges[Edge("n3", "n4")].middle_point())
    (added,) = document.graph.nodes.keys() - {f"n{i}" for i in range(1, 7)}
    assert document.graph.nodes[added].group == "block"
    frame = opened.scene.frames["block"].area
    assert frame.contains(opened.scene.nodes[added].card_rect())
    assert frame.bottom() <= opened.scene.nodes["n5"].pos().y()


def test_texts_of_a_card_name_it_as_people_do(grouped) -> None:
    """The id of a card has a sign that nobody should see."""
    shown = [grouped.scene.tooltip_at(center(grouped, key)) for key in grouped.scene.nodes]
    line = grouped.scene.edges[Edge("n1", BLOCK)]
    shown.append(grouped.scene.tooltip_at(line.middle_point()))
    assert not any(re.search("[\x00-\x09\x0b-\x1f]", text) for text in shown)
    assert "input → block" in shown[-1]
