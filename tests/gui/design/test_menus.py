"""The menus of the canvas, by right click and by key, and what their entries do."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from tests.gui.design.hand import LEFT, chain, hint
from workbench.core.network.graph import Edge
from workbench.core.projects.project import Project

KEYBOARD = QContextMenuEvent.Reason.Keyboard
MOUSE = QContextMenuEvent.Reason.Mouse


def center(panel, key: str) -> QPointF:
    return panel.scene.nodes[key].card_rect().center()


def shown_menu(panel) -> QMenu:
    (menu,) = [menu for menu in panel.findChildren(QMenu) if menu.isVisible()]
    return menu


def words(menu: QMenu) -> list[str]:
    texts = (action.text().split("\t")[0].replace("&", "") for action in menu.actions())
    return [text for text in texts if text]


def right_click(panel, point: QPointF) -> QMenu:
    viewport, place = panel.view.viewport(), panel.view.mapFromScene(point)
    QTest.mousePress(viewport, Qt.MouseButton.RightButton, pos=place)
    event = QContextMenuEvent(MOUSE, place, viewport.mapToGlobal(place))
    QApplication.sendEvent(viewport, event)
    QTest.mouseRelease(viewport, Qt.MouseButton.RightButton, pos=place)
    return shown_menu(panel)


def choose(menu: QMenu, text: str) -> None:
    entry = next(a for a in menu.actions() if a.text().replace("&", "").split("\t")[0] == text)
    assert entry.isEnabled()
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(entry).center())


def search(panel, text: str) -> None:
    assert panel.search.isVisible()
    QTest.keyClicks(panel.search._field, text)
    QTest.keyClick(panel.search._field, Qt.Key.Key_Return)


def kinds(document) -> list[str]:
    return [document.graph.nodes[key].kind for key in document.graph.order]


# what is pointed at ---------------------------------------------------------------------


def test_a_right_click_on_a_connection_is_about_it(small, document) -> None:
    small.select(["n2"])
    edge = Edge("n3", "n4")
    menu = right_click(small, small.scene.edges[edge].middle_point())
    assert small.scene.selected_ids() == []
    assert small.scene.selected_edges() == [edge]
    assert words(menu)[:2] == ["Insert layer…", "Remove connection"]
    assert not {"Cut", "Delete", "Duplicate"} & set(words(menu))
    choose(menu, "Remove connection")
    assert edge not in document.graph.edges
    assert len(document.graph.nodes) == 4


def test_a_layer_is_inserted_into_the_connection_of_the_menu(small, document) -> None:
    menu = right_click(small, small.scene.edges[Edge("n2", "n3")].middle_point())
    choose(menu, "Insert layer…")
    search(small, "dropout")
    assert kinds(document) == ["input", "conv2d", "dropout", "flatten", "dense"]


def test_a_right_click_on_the_ground_is_about_the_canvas(small, document) -> None:
    document.set_params("n4", kernel_initializer="zeros")  # no card of a warning in the way
    small.select(["n2"])
    place = center(small, "n2") + QPointF(300, 10)
    menu = right_click(small, place)
    assert small.scene.selected_ids() == []
    entries = words(menu)
    assert entries[:5] == ["Add layer…", "Paste", "Select all", "Arrange", "Fit"]
    assert not {"Cut", "Delete", "Duplicate"} & set(entries)
    choose(menu, "Add layer…")
    search(small, "dropout")
    (added,) = small.scene.selected_ids()
    assert small.scene.nodes[added].card_rect().contains(place)


def test_the_menu_of_the_canvas_pastes_where_it_was_opened(small, document) -> None:
    document.set_params("n4", kernel_initializer="zeros")  # no card of a warning in the way
    small.select(["n2"])
    small.edits.copy()
    place = center(small, "n2") + QPointF(200, 30)
    choose(right_click(small, place), "Paste")
    (added,) = small.scene.selected_ids()
    assert document.positions[added] == pytest.approx(place.toTuple(), abs=2)


def test_a_right_click_on_a_layer_selects_it_alone_unless_it_is(small) -> None:
    small.select(["n2", "n3"])
    right_click(small, center(small, "n3")).close()
    assert small.scene.selected_ids() == ["n2", "n3"]
    menu = right_click(small, center(small, "n4"))
    assert small.scene.selected_ids() == ["n4"]
    assert {
        "Insert before…",
        "Insert after…",
        "Replace with…",
        "Rename…",
        "Help on this layer",
        "Bypass",
        "Detach",
        "Cut",
        "Copy",
        "Duplicate",
        "Delete",
    } <= set(words(menu))


@pytest.mark.parametrize("selected", ["layer", "connection", "nothing"])
def test_the_menu_key_opens_the_menu_of_the_selection(small, document, selected) -> None:
    if selected == "layer":
        small.select(["n3"])
        small.view.center_on(QPointF(5000, 5000))
    elif selected == "connection":
        small.scene.select([], [Edge("n2", "n3")])
    before = small.scene.selected_ids(), small.scene.selected_edges()
    view = small.view
    corner = view.rect().topLeft()
    QApplication.sendEvent(view, QContextMenuEvent(KEYBOARD, corner, view.mapToGlobal(corner)))
    menu = shown_menu(small)
    assert (small.scene.selected_ids(), small.scene.selected_edges()) == before
    corner = view.mapToScene(view.viewport().mapFromGlobal(menu.pos()))
    if selected == "layer":
        assert small.scene.nodes["n3"].card_rect().contains(corner)
        assert "Bypass" in words(menu)
    elif selected == "connection":
        line = small.scene.edges[Edge("n2", "n3")]
        assert line.distance_to(corner) < 3
        assert "Remove connection" in words(menu)
    else:
        assert "Select all" in words(menu)


# layers ---------------------------------------------------------------------------------


def test_insert_before_and_after(small, document) -> None:
    choose(right_click(small, center(small, "n3")), "Insert before…")
    search(small, "relu")
    assert kinds(document) == ["input", "conv2d", "relu", "flatten", "dense"]
    choose(right_click(small, center(small, "n4")), "Insert after…")
    search(small, "softmax")
    assert kinds(document)[-2:] == ["dense", "softmax"]
    assert small.action("insert_after").isEnabled()


def test_insert_after_takes_over_all_that_was_fed(small, document) -> None:
    added = document.add_node("add", (400.0, 300.0))
    document.connect("n1", added)
    document.connect("n2", added)
    small.select(["n2"])
    small.action("insert_after").trigger()
    search(small, "relu")
    (new,) = small.scene.selected_ids()
    assert document.graph.targets("n2") == (new,)
    assert set(document.graph.edges_from(new)) == {Edge(new, "n3"), Edge(new, added, 1)}
    assert document.graph.edges_into(added)[0] == Edge("n1", added)


def test_what_cannot_be_done_is_gray(small, document) -> None:
    added = document.add_node("add", (400.0, 300.0))
    document.connect("n1", added)
    document.connect("n2", added)
    small.select([added])
    assert not small.action("insert_before").isEnabled()
    small.select(["n1"])
    assert not small.action("insert_before").isEnabled()
    assert small.action("insert_after").isEnabled()
    small.select(["n1", "n2"])
    for key in ("rename", "replace", "insert_after", "bypass", "detach", "layer_help"):
        assert not small.action(key).isEnabled()


def test_replacing_keeps_connections_and_what_was_chosen(small, document) -> None:
    document.set_params("n2", filters=48, padding="same")
    choose(right_click(small, center(small, "n2")), "Replace with…")
    search(small, "separable")
    node = document.graph.nodes["n2"]
    assert node.kind == "separable_conv2d"
    assert (node.params["filters"], node.params["padding"]) == (48, "same")
    assert node.name == "separable_conv2d"
    assert {Edge("n1", "n2"), Edge("n2", "n3")} <= set(document.graph.edges)
    assert small.scene.nodes["n2"].facts.title == "SeparableConv2D"
    document.undo_stack.undo()
    assert document.graph.nodes["n2"].kind == "conv2d"


def test_a_replacement_that_takes_fewer_connections_is_refused(small, document) -> None:
    added = document.add_node("add", (400.0, 300.0))
    document.connect("n1", added)
    document.connect("n2", added)
    before = document.graph
    small.select([added])
    small.action("replace").trigger()
    search(small, "flatten")
    assert "only one input" in hint(small)
    assert document.graph == before


def test_bypass_removes_and_reconnects_a_fork_too(small, document) -> None:
    added = document.add_node("add", (400.0, 300.0))
    document.connect("n1", added)
    document.connect("n2", added)
    document.disconnect(Edge("n1", added))
    choose(right_click(small, center(small, "n2")), "Bypass")
    assert set(document.graph.edges) == {Edge("n1", "n3"), Edge("n3", "n4"), Edge("n1", added, 1)}
    assert "n2" not in document.graph.nodes
    assert document.undo_stack.undoText() == "Bypass conv2d"
    assert small.scene.selected_ids() == ["n1"]


def test_detach_puts_the_card_beside(small, document) -> None:
    choose(right_click(small, center(small, "n2")), "Detach")
    assert document.graph.edges == (Edge("n1", "n3"), Edge("n3", "n4"))
    assert document.positions["n2"][0] > document.positions["n3"][0] + 200
    assert small.scene.selected_ids() == ["n2"]
    assert not small.action("detach").isEnabled()
    document.undo_stack.undo()
    assert Edge("n1", "n2") in document.graph.edges
    assert document.positions["n2"][0] == document.positions["n3"][0]


# names ----------------------------------------------------------------------------------


def test_f2_renames_on_the_card(small, document, hand) -> None:
    small.select(["n2"])
    hand.key(Qt.Key.Key_F2)
    box = small.rename_box
    assert box.isVisible()
    assert box.selectedText() == "conv2d"
    card = small.view.mapFromScene(small.scene.nodes["n2"].card_rect()).boundingRect()
    assert card.contains(box.geometry().center())
    QTest.keyClicks(box, "eyes")
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert document.graph.nodes["n2"].name == "eyes"
    assert not box.isVisible()
    assert small.view.hasFocus()


def test_a_name_that_is_taken_is_said_and_escape_gives_up(small, document, hand) -> None:
    small.select(["n2"])
    hand.key(Qt.Key.Key_F2)
    QTest.keyClicks(small.rename_box, "dense")
    QTest.keyClick(small.rename_box, Qt.Key.Key_Return)
    assert "named “dense”" in hint(small)
    assert small.rename_box.isVisible()
    QTest.keyClick(small.rename_box, Qt.Key.Key_Delete)
    QTest.keyClick(small.rename_box, Qt.Key.Key_Escape)
    assert not small.rename_box.isVisible()
    assert hint(small) == ""
    assert document.undo_stack.count() == 0
    assert small.view.hasFocus()


def test_help_opens_the_page_of_the_layer(small, qtbot) -> None:
    menu = right_click(small, center(small, "n3"))
    with qtbot.waitSignal(small.help_asked) as asked:
        choose(menu, "Help on this layer")
    assert asked.args == ["flatten"]


def test_a_problem_belongs_to_its_layer(panel, document, layers) -> None:
    document.new(Project(graph=chain(layers, "input", "flatten", "conv2d", "dense")))
    panel.view.set_zoom(1.0)
    problem = panel.scene.card.sceneBoundingRect().center()
    menu = right_click(panel, problem)
    assert panel.scene.selected_ids() == [panel.scene.card.problem.node]
    assert "Fix problem…" in words(menu)
