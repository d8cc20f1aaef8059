"""Everything on the canvas without a mouse."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QCursor, QEnterEvent, QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.gui.design.hand import chain, hint
from workbench.core.network.graph import Edge
from workbench.core.projects.project import Project
from workbench.gui.common.layer_search import find_layers
from workbench.gui.design.canvas.gesture import GRAPH_MIME
from workbench.gui.design.canvas_actions import CANVAS_ACTIONS

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


def kinds(document) -> list[str]:
    return [node.kind for node in document.graph.nodes.values()]


def test_arrows_walk_along_the_graph(panel, document, layers, hand) -> None:
    graph = chain(layers, "input", "conv2d", "conv2d", "add").with_edge(Edge("n2", "n4", 1))
    document.new(Project(graph=graph))
    document.arrange()
    walked = []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Up):
        hand.key(key)
        walked += panel.scene.selected_ids()
    assert walked == ["n1", "n2", "n3", "n2", "n1"]


def test_side_arrows_go_to_the_branch_beside(panel, document, layers, hand) -> None:
    document.new(Project(graph=chain(layers, "input", "conv2d", "conv2d", "add")))
    branch = document.add_node("conv2d", after="n1")
    document.connect(branch, "n4")
    document.arrange()
    panel.select(["n2"])
    hand.key(Qt.Key.Key_Right)
    assert panel.scene.selected_ids() == [branch]
    hand.key(Qt.Key.Key_Left)
    assert panel.scene.selected_ids() != [branch]
    hand.key(Qt.Key.Key_Down, SHIFT)
    assert len(panel.scene.selected_ids()) == 2


def test_alt_and_arrows_nudge(small, document, hand) -> None:
    before = dict(document.positions)
    small.select(["n2"])
    hand.key(Qt.Key.Key_Right, ALT)
    hand.key(Qt.Key.Key_Down, ALT | SHIFT)
    assert document.positions["n2"] == (before["n2"][0] + 4, before["n2"][1] + 40)
    assert document.positions["n3"] == before["n3"]
    assert document.undo_stack.undoText() == "Move conv2d"
    document.undo_stack.undo()
    assert document.positions == before


def test_delete_closes_the_chain_and_selects_the_neighbour(small, document, hand) -> None:
    small.select(["n2"])
    hand.key(Qt.Key.Key_Delete)
    assert kinds(document) == ["input", "flatten", "dense"]
    assert small.scene.selected_ids() == ["n1"]
    small.select([])
    assert not small.action("delete").isEnabled()
    small.scene.select([], [Edge("n3", "n4")])
    hand.key(Qt.Key.Key_Backspace)
    assert Edge("n3", "n4") not in document.graph.edges


def test_copy_cut_and_paste(small, document, hand) -> None:
    small.select(["n2", "n3"])
    hand.key(Qt.Key.Key_C, CTRL)
    mime = QGuiApplication.clipboard().mimeData()
    assert mime.hasFormat(GRAPH_MIME)
    assert len(json.loads(mime.text())["graph"]["nodes"]) == 2
    hand.key(Qt.Key.Key_V, CTRL)
    pasted = small.scene.selected_ids()
    assert [document.graph.nodes[key].kind for key in pasted] == ["conv2d", "flatten"]
    assert document.graph.targets(pasted[0]) == (pasted[1],)
    hand.key(Qt.Key.Key_X, CTRL)
    assert kinds(document) == ["input", "conv2d", "flatten", "dense"]
    hand.key(Qt.Key.Key_V, CTRL)
    assert len(kinds(document)) == 6
    names = [node.name for node in document.graph.nodes.values()]
    assert len(set(names)) == len(names)


def test_text_from_elsewhere_is_refused_in_words(small, document, hand) -> None:
    mime = QMimeData()
    mime.setText("<b>dear diary</b>")
    QGuiApplication.clipboard().setMimeData(mime)
    hand.key(Qt.Key.Key_V, CTRL)
    assert "contains no layers" in hint(small)
    assert "Keras code is found by pasting the line into the search (Ctrl+K)" in hint(small)
    assert document.undo_stack.index() == 0


@pytest.mark.parametrize("next_action", ["arrange", "select", "arrow", "zoom", "undo", "wait"])
def test_a_refusal_leaves_by_itself_or_with_the_next_action(
    small, document, hand, qtbot, next_action
) -> None:
    document.move({"n2": (400.0, 300.0)})
    mime = QMimeData()
    mime.setText("dear diary")
    QGuiApplication.clipboard().setMimeData(mime)
    small.view.refusal_timer.setInterval(50 if next_action == "wait" else 600_000)
    hand.key(Qt.Key.Key_V, CTRL)
    assert "contains no layers" in hint(small)
    acts = {
        "arrange": lambda: hand.key(Qt.Key.Key_L, CTRL),
        "select": lambda: hand.key(Qt.Key.Key_A, CTRL),
        "arrow": lambda: hand.key(Qt.Key.Key_Down),
        "zoom": lambda: hand.key(Qt.Key.Key_Plus, CTRL),
        "undo": document.undo_stack.undo,
        "wait": lambda: None,
    }
    acts[next_action]()
    qtbot.waitUntil(lambda: hint(small) == "")


def test_plain_text_with_layers_pastes(small, document, hand) -> None:
    mime = QMimeData()
    mime.setText(document.copy_text(["n4"]))
    QGuiApplication.clipboard().setMimeData(mime)
    hand.key(Qt.Key.Key_V, CTRL)
    assert kinds(document)[-1] == "dense"


def test_duplicate_and_select_all(small, document, hand) -> None:
    hand.key(Qt.Key.Key_A, CTRL)
    assert small.scene.selected_ids() == ["n1", "n2", "n3", "n4"]
    small.select(["n4"])
    hand.key(Qt.Key.Key_D, CTRL)
    (copy,) = small.scene.selected_ids()
    assert document.graph.nodes[copy].kind == "dense"
    assert document.positions[copy] != document.positions["n4"]


def test_connecting_by_keys(small, document, hand) -> None:
    added = document.add_node("add", (500.0, 300.0))
    small.select(["n2"])
    hand.key(Qt.Key.Key_C)
    assert f"Enter connects conv2d to {document.graph.nodes[added].name}" in hint(small)
    hand.key(Qt.Key.Key_Left)
    assert hint(small) == "Enter connects conv2d to dense, in place of flatten"
    hand.key(Qt.Key.Key_Up)
    hand.key(Qt.Key.Key_Up)
    assert "takes no connection" in hint(small)
    hand.key(Qt.Key.Key_Return)
    assert not document.graph.edges_into(added)
    hand.key(Qt.Key.Key_Right)
    hand.key(Qt.Key.Key_Return)
    assert document.graph.sources(added) == ("n2",)
    assert small.view.gesture is None


def test_disconnecting_by_keys(small, document, hand) -> None:
    small.select(["n2"])
    hand.key(Qt.Key.Key_C)
    assert hint(small) == "Enter disconnects conv2d from flatten"
    hand.key(Qt.Key.Key_Return)
    assert Edge("n2", "n3") not in document.graph.edges
    assert document.undo_stack.index() == 1


def test_connecting_by_keys_can_be_given_up(small, document, hand) -> None:
    document.add_node("add", (500.0, 300.0))
    small.select(["n2"])
    count = document.undo_stack.index()
    hand.key(Qt.Key.Key_C)
    hand.key(Qt.Key.Key_Escape)
    assert small.view.gesture is None
    assert hint(small) == ""
    assert document.undo_stack.index() == count


def test_a_adds_after_the_selection(small, document, hand) -> None:
    small.select(["n2"])
    hand.key(Qt.Key.Key_A)
    assert small.search.isVisible()
    QTest.keyClicks(small.search._field, "batchn")
    QTest.keyClick(small.search._field, Qt.Key.Key_Return)
    (added,) = small.scene.selected_ids()
    assert document.graph.nodes[added].kind == "batch_normalization"
    assert document.graph.sources(added) == ("n2",)
    assert document.graph.targets(added) == ("n3",)
    assert small.view.hasFocus()


def test_a_network_is_built_by_keys_alone(panel, document, hand) -> None:
    for word in ("inpu", "flatt", "dense"):
        hand.key(Qt.Key.Key_A)
        QTest.keyClicks(panel.search._field, word)
        QTest.keyClick(panel.search._field, Qt.Key.Key_Return)
    assert kinds(document) == ["input", "flatten", "dense"]
    assert len(document.graph.edges) == 2


def test_enter_opens_the_settings(small, hand, qtbot) -> None:
    small.select(["n2"])
    with qtbot.waitSignal(small.view.node_activated) as activated:
        hand.key(Qt.Key.Key_Return)
    assert activated.args == ["n2"]


def test_zoom_keys(small, hand) -> None:
    hand.key(Qt.Key.Key_Plus, CTRL)
    assert small.view.zoom == pytest.approx(1.2)
    hand.key(Qt.Key.Key_Minus, CTRL)
    hand.key(Qt.Key.Key_Minus, CTRL)
    assert small.view.zoom == pytest.approx(1 / 1.2)
    hand.key(Qt.Key.Key_F)
    assert small.view.visible_rect().contains(small.scene.content_rect())
    hand.key(Qt.Key.Key_0, CTRL | ALT)
    assert small.view.zoom == 1.0


def wheel(view, place: QPointF, steps: int, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    event = QWheelEvent(
        place,
        QPointF(view.viewport().mapToGlobal(place)),
        QPointF(0, 0).toPoint(),
        QPointF(0, 120 * steps).toPoint(),
        Qt.MouseButton.NoButton,
        modifiers,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.viewport(), event)


def test_the_wheel_scrolls_and_with_ctrl_zooms_at_the_pointer(small) -> None:
    view = small.view
    place = QPointF(300, 200)
    before = view.mapToScene(place.toPoint())
    wheel(view, place, 2, CTRL)
    assert view.zoom == pytest.approx(1.44)
    after = view.mapToScene(place.toPoint())
    assert abs(after.x() - before.x()) < 2
    assert abs(after.y() - before.y()) < 2
    zoom, top = view.zoom, view.visible_rect().top()
    wheel(view, place, -1)
    assert view.zoom == zoom
    assert view.visible_rect().top() > top


def test_arranging_is_one_step(small, document, hand) -> None:
    document.move({"n2": (700.0, 50.0), "n3": (-300.0, 20.0)})
    hand.key(Qt.Key.Key_L, CTRL)
    assert len({x for x, _ in document.positions.values()}) == 1
    document.undo_stack.undo()
    assert document.positions["n2"] == (700.0, 50.0)


def test_actions_say_what_they_do_and_know_when_they_can(panel, document, layers) -> None:
    assert [a.objectName() for a in panel.actions()] == [f"canvas_{s.key}" for s in CANVAS_ACTIONS]
    assert all(a.text() and a.statusTip() and not a.icon().isNull() for a in panel.actions())
    shortcuts = [s for a in panel.actions() for s in (k.toString() for k in a.shortcuts())]
    assert len(set(shortcuts)) == len(shortcuts)
    assert not set(shortcuts) & {f"Ctrl+{n}" for n in range(1, 6)}
    assert not panel.action("delete").isEnabled()
    document.new(Project(graph=chain(layers, "input", "dense")))
    panel.select(["n2"])
    assert panel.action("delete").isEnabled()
    panel.hide()
    assert not panel.action("delete").isEnabled()


def test_search_puts_the_best_first(layers) -> None:
    assert find_layers(layers, "conv2d")[0].key == "conv2d"
    assert find_layers(layers, "average")[0].key == "average"
    assert find_layers(layers, "bn")[0].key == "batch_normalization"
    assert {spec.key for spec in find_layers(layers, "pooling")} >= {"max_pooling2d"}
    assert len(find_layers(layers, "")) == len(layers)
    assert find_layers(layers, "qqq") == []
    assert all("pool" in spec.key for spec in find_layers(layers, "pool"))
    assert find_layers(layers, "")[0].key == "input"
    assert all(spec.max_inputs != 0 for spec in find_layers(layers, "", needs_input=True))


def test_the_view_of_a_large_project_is_kept(panel, document, layers) -> None:
    """One that can be read as a whole is seen as a whole."""
    document.new(Project(graph=chain(layers, "input", *["relu"] * 20)))
    panel.view.set_zoom(0.8)
    panel.view.center_on(QPointF(50, 60))
    view = document.project.view
    assert view.zoom == pytest.approx(0.8)
    assert view.center == pytest.approx((50, 60), abs=2)
    document.new(Project(graph=document.graph, view=view))
    assert panel.view.zoom == pytest.approx(0.8)
    middle = panel.view.visible_rect().center()
    assert (middle.x(), middle.y()) == pytest.approx((50, 60), abs=3)


def test_the_palette_adds_behind_the_selection_wherever_one_looks(small, document) -> None:
    small.select(["n2"])
    small.view.center_on(QPointF(4000, 4000))
    first = small.adder.add("dropout")
    assert document.graph.sources(first) == ("n2",)
    assert document.graph.targets(first) == ("n3",)
    assert small.view.visible_rect().intersects(small.scene.nodes[first].card_rect())
    small.select([])
    last = small.adder.add("softmax")
    assert document.graph.sources(last) == ("n4",)
    start = small.adder.add("input")
    assert not document.graph.edges_into(start)
    assert document.undo_stack.index() == 3


def test_search_offers_what_starts_a_network_until_one_does(panel, document, layers, hand) -> None:
    document.new(Project(graph=chain(layers, "dropout")))
    panel.select(["n1"])
    hand.key(Qt.Key.Key_A)
    QTest.keyClicks(panel.search._field, "input")
    QTest.keyClick(panel.search._field, Qt.Key.Key_Return)
    assert kinds(document) == ["dropout", "input"]
    hand.key(Qt.Key.Key_A)
    QTest.keyClicks(panel.search._field, "input")
    assert panel.search._list.item(0).text() == "This layer cannot have an input"


def point_at(panel, scene_point):
    """Moves the pointer of the mouse to a scene point, as Qt notices it."""
    viewport = panel.view.viewport()
    place = panel.view.mapFromScene(scene_point)
    QCursor.setPos(viewport.mapToGlobal(place))
    at = QPointF(place)
    QApplication.sendEvent(viewport, QEnterEvent(at, at, viewport.mapToGlobal(at)))
    assert viewport.underMouse()


def test_a_copy_is_pasted_beside_its_original_also_with_the_pointer_on_it(
    small, document, hand
) -> None:
    duplicates = document.duplicate(["n2"])
    beside = document.positions[duplicates[0]]
    document.undo_stack.undo()
    small.select(["n2"])
    hand.key(Qt.Key.Key_C, CTRL)
    point_at(small, small.scene.nodes["n2"].card_rect().center())
    hand.key(Qt.Key.Key_V, CTRL)
    (pasted,) = small.scene.selected_ids()
    assert document.positions[pasted] == beside
    assert beside[0] > document.positions["n2"][0]
    assert beside[1] == document.positions["n2"][1]


def test_a_copy_is_pasted_at_the_pointer_on_free_ground(small, document, hand) -> None:
    small.select(["n2"])
    hand.key(Qt.Key.Key_C, CTRL)
    place = small.scene.nodes["n3"].card_rect().center() + QPointF(200, 20)
    point_at(small, place)
    hand.key(Qt.Key.Key_V, CTRL)
    (pasted,) = small.scene.selected_ids()
    assert document.positions[pasted] == pytest.approx(place.toTuple(), abs=2)
