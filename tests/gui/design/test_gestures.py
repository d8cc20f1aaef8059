"""Gestures with real events: what they do, that Escape undoes them, and one step each."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.gui.design.hand import chain, hint
from workbench.core.network.graph import Edge
from workbench.core.projects.project import Project
from workbench.gui.design.gestures.connecting import DragConnection
from workbench.gui.design.gestures.moving import MoveNodes

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def steps(document) -> int:
    return document.undo_stack.index()


def center(panel, key: str) -> QPointF:
    return panel.scene.nodes[key].card_rect().center()


# layers from the palette ----------------------------------------------------------------


def test_a_drop_on_an_edge_inserts(small, document, hand) -> None:
    edge = Edge("n2", "n3")
    middle = small.scene.edges[edge].middle_point()
    hand.enter("dropout", middle)
    hand.drag_over(middle)
    assert small.scene.edges[edge].is_hot
    assert "between conv2d and flatten" in hint(small)
    assert hand.drop(middle)
    (added,) = small.scene.selected_ids()
    assert document.graph.nodes[added].kind == "dropout"
    assert Edge("n2", added) in document.graph.edges
    assert Edge(added, "n3") in document.graph.edges
    assert steps(document) == 1
    boxes = list(small.scene.boxes().values())
    assert all(
        a.bottom <= b.top
        for a, b in zip(
            sorted(boxes, key=lambda b: b.top), sorted(boxes, key=lambda b: b.top)[1:], strict=False
        )
    )
    document.undo_stack.undo()
    assert edge in document.graph.edges


def test_a_drop_below_an_open_end_adds_next(small, document, hand) -> None:
    below = small.scene.nodes["n4"].output_point() + QPointF(30, 70)
    hand.drop_layer("softmax", below)
    (added,) = small.scene.selected_ids()
    assert document.graph.sources(added) == ("n4",)
    assert steps(document) == 1
    assert small.scene.nodes[added].pos().x() == small.scene.nodes["n4"].pos().x()


def test_a_drop_on_a_card_goes_behind_it(small, document, hand) -> None:
    hand.drop_layer("relu", center(small, "n2"))
    (added,) = small.scene.selected_ids()
    assert document.graph.sources(added) == ("n2",)
    assert document.graph.targets(added) == ("n3",)


def test_a_drop_far_away_stays_unconnected(small, document, hand) -> None:
    far = QPointF(center(small, "n2").x() + 420, center(small, "n2").y())
    hand.enter("dense", far)
    assert "not connected" in hint(small)
    hand.drop(far)
    (added,) = small.scene.selected_ids()
    assert not document.graph.edges_into(added)
    assert small.scene.nodes[added].card_rect().contains(far)


def test_the_first_layer_lands_where_it_is_dropped(panel, document, hand) -> None:
    assert panel.overlays.hint.isVisible()
    place = panel.view.visible_rect().center()
    hand.drop_layer("input", place)
    assert [node.kind for node in document.graph.nodes.values()] == ["input"]
    assert panel.scene.nodes["n1"].card_rect().contains(place)
    assert not panel.overlays.hint.isVisible()


def test_a_layer_dragged_away_leaves_nothing(small, document, hand) -> None:
    middle = small.scene.edges[Edge("n2", "n3")].middle_point()
    num_items = len(small.scene.items())
    hand.enter("dropout", middle)
    assert len(small.scene.items()) == num_items + 1
    hand.leave()
    assert len(small.scene.items()) == num_items
    assert not small.scene.edges[Edge("n2", "n3")].is_hot
    assert not hand.drag_over(middle)
    assert not hand.drop(middle)
    assert steps(document) == 0


def test_pictures_are_left_to_the_window(small, hand) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile("/pictures/cat.png")])
    assert not hand.enter_mime(mime, center(small, "n2"))
    assert not hand.enter("no_such_layer", center(small, "n2"))


# connections ----------------------------------------------------------------------------


@pytest.fixture
def loose(small, document):
    """The column of four, and a separate Add to the right."""
    document.add_node("add", (420.0, 200.0))
    document.undo_stack.clear()
    small.scene.select([])
    small.view.fit()
    return small


def test_dragging_from_a_port_connects(loose, document, hand) -> None:
    source = loose.scene.nodes["n2"].output_point()
    hand.drag(source, center(loose, "n5"))
    assert Edge("n2", "n5", 0) in document.graph.edges
    assert steps(document) == 1
    document.undo_stack.undo()
    assert document.graph.edges_into("n5") == ()


def test_dragging_from_an_open_input_connects_backwards(loose, document, hand) -> None:
    hand.drag(loose.scene.nodes["n5"].input_point(), center(loose, "n2"))
    assert Edge("n2", "n5", 0) in document.graph.edges


def test_refusals_are_explained_while_dragging(loose, document, hand) -> None:
    hand.press(loose.scene.nodes["n4"].output_point())
    assert isinstance(loose.view.gesture, DragConnection)
    hand.move(center(loose, "n2"))
    assert "create a cycle" in hint(loose)
    hand.move(center(loose, "n5"))
    assert hint(loose) == "Connect dense to add"
    hand.move(center(loose, "n1"))
    assert "takes no connection" in hint(loose)
    hand.release(center(loose, "n1"))
    assert steps(document) == 0
    assert hint(loose) == ""


def test_what_would_not_fit_is_said_while_dragging(loose, document, hand) -> None:
    document.connect("n1", "n5")
    hand.press(loose.scene.nodes["n4"].output_point())
    hand.move(center(loose, "n5"))
    warning = document.connection_warning("n4", "n5")
    assert hint(loose) == f"Connect dense to add\n{warning}"
    assert warning
    hand.release(center(loose, "n5"))
    assert document.graph.sources("n5") == ("n1", "n4")


def test_valid_ends_carry_rings_only_while_dragging(loose, hand) -> None:
    num_items = len(loose.scene.items())
    hand.press(loose.scene.nodes["n2"].output_point())
    hand.move(loose.scene.nodes["n2"].output_point() + QPointF(30, 30))
    rings = loose.view.gesture._rings
    assert set(rings) == {"n5"}
    hand.key(Qt.Key.Key_Escape)
    assert loose.view.gesture is None
    assert len(loose.scene.items()) == num_items


def test_an_edge_end_can_be_moved(loose, document, hand) -> None:
    document.connect("n2", "n5")
    document.add_node("concatenate", (420.0, 330.0))
    loose.view.fit()
    before = steps(document)
    end = loose.scene.edges[Edge("n2", "n5")].end_point()
    hand.drag(end, center(loose, "n6"))
    assert Edge("n2", "n6", 0) in document.graph.edges
    assert not document.graph.edges_into("n5")
    assert steps(document) == before + 1
    document.undo_stack.undo()
    assert Edge("n2", "n5", 0) in document.graph.edges


def test_an_edge_end_dropped_nowhere_removes_the_edge(small, document, hand) -> None:
    end = small.scene.edges[Edge("n3", "n4")].end_point()
    hand.drag(end, end + QPointF(300, 0))
    assert Edge("n3", "n4") not in document.graph.edges
    assert steps(document) == 1


def test_a_connection_dropped_on_nothing_opens_the_search(small, document, hand) -> None:
    hand.drag(small.scene.nodes["n4"].output_point(), center(small, "n4") + QPointF(200, 120))
    assert small.search.isVisible()
    QTest.keyClicks(small.search._field, "softm")
    QTest.keyClick(small.search._field, Qt.Key.Key_Return)
    (added,) = small.scene.selected_ids()
    assert document.graph.nodes[added].kind == "softmax"
    assert document.graph.sources(added) == ("n4",)
    assert not small.search.isVisible()


# moving, selecting ----------------------------------------------------------------------


def test_moving_is_one_step(small, document, hand) -> None:
    small.scene.select(["n2", "n3"])
    before = dict(document.positions)
    hand.drag(center(small, "n2"), center(small, "n2") + QPointF(150, 23), modifiers=SHIFT)
    assert steps(document) == 1
    assert "2 layers" in document.undo_stack.undoText()
    for key in ("n2", "n3"):
        assert document.positions[key][0] - before[key][0] == pytest.approx(150, abs=1)
    assert document.positions["n1"] == before["n1"]
    document.undo_stack.undo()
    assert document.positions == before


def test_cards_snap_into_line_unless_shift_is_held(small, document, hand) -> None:
    document.move({"n4": (90.0, document.positions["n4"][1])})
    target = center(small, "n4") + QPointF(-86, 0)
    hand.drag(center(small, "n4"), target)
    assert document.positions["n4"][0] == document.positions["n3"][0]
    document.undo_stack.undo()
    hand.drag(center(small, "n4"), target, modifiers=SHIFT)
    assert document.positions["n4"][0] == 4


def test_escape_puts_cards_back(small, document, hand) -> None:
    start = center(small, "n2")
    before = small.scene.nodes["n2"].pos()
    hand.press(start)
    hand.move(start + QPointF(80, 40))
    assert isinstance(small.view.gesture, MoveNodes)
    assert small.scene.nodes["n2"].pos() != before
    hand.key(Qt.Key.Key_Escape)
    assert small.scene.nodes["n2"].pos() == before
    hand.release(start + QPointF(80, 40))
    assert steps(document) == 0


def test_undo_is_locked_while_a_gesture_lasts(small, document, hand) -> None:
    document.rename("n2", "eyes")
    hand.press(center(small, "n2"))
    hand.move(center(small, "n2") + QPointF(60, 10))
    override = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Z, CTRL)
    override.ignore()
    QApplication.sendEvent(small.view, override)
    assert override.isAccepted()
    hand.key(Qt.Key.Key_Escape)
    override.ignore()
    QApplication.sendEvent(small.view, override)
    assert not override.isAccepted()


def test_a_change_from_elsewhere_ends_the_gesture(small, document, hand) -> None:
    hand.press(center(small, "n2"))
    hand.move(center(small, "n2") + QPointF(60, 10))
    document.remove(["n2"])
    assert small.view.gesture is None
    hand.release(center(small, "n3"))
    assert "n2" not in small.scene.nodes
    assert steps(document) == 1


def test_clicks_select(small, hand) -> None:
    hand.click(center(small, "n2"))
    assert small.scene.selected_ids() == ["n2"]
    hand.click(center(small, "n3"), modifiers=SHIFT)
    assert small.scene.selected_ids() == ["n2", "n3"]
    hand.click(center(small, "n2"), modifiers=CTRL)
    assert small.scene.selected_ids() == ["n3"]
    hand.click(center(small, "n4") + QPointF(200, 0))
    assert small.scene.selected_ids() == []
    line = small.scene.edges[Edge("n1", "n2")]
    hand.click(line.middle_point())
    assert small.scene.selected_edges() == [Edge("n1", "n2")]


def test_the_rubber_band_selects_what_it_touches(small, hand) -> None:
    first, last = small.scene.nodes["n2"].box, small.scene.nodes["n3"].box
    start = QPointF(first.left - 40, first.top + 10)
    end = QPointF(first.left + 20, last.top + 10)
    small.select(["n1"])
    hand.drag(start, end)
    assert small.scene.selected_ids() == ["n2", "n3"]
    small.select(["n1"])
    hand.drag(start, end, modifiers=SHIFT)
    assert small.scene.selected_ids() == ["n1", "n2", "n3"]
    small.select(["n1"])
    hand.press(start)
    hand.move(end)
    hand.key(Qt.Key.Key_Escape)
    assert small.scene.selected_ids() == ["n1"]
    hand.release(end)


# looking --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["middle", "space"])
def test_panning(small, hand, way) -> None:
    place = small.view.viewport().rect().center()
    before = small.view.mapToScene(place)
    start, end = before, before + QPointF(60, 40)
    if way == "middle":
        hand.press(start, button=Qt.MouseButton.MiddleButton)
    else:
        QTest.keyPress(small.view, Qt.Key.Key_Space)
        hand.press(start)
    middle = small.view.mapFromScene(end)
    hand.move(end)
    button = Qt.MouseButton.MiddleButton if way == "middle" else Qt.MouseButton.LeftButton
    QTest.mouseRelease(small.view.viewport(), button, Qt.KeyboardModifier.NoModifier, middle)
    QTest.keyRelease(small.view, Qt.Key.Key_Space)
    after = small.view.mapToScene(place)
    assert (before - after).x() == pytest.approx(60, abs=2)
    assert (before - after).y() == pytest.approx(40, abs=2)
    assert small.view.gesture is None


def first_button(card) -> QPointF:
    """A point of the card at which a click takes the first fix: the first one line by line."""
    place = card.sceneBoundingRect().toRect()
    rows, columns = range(place.top(), place.bottom(), 3), range(place.left(), place.right(), 3)
    points = (QPointF(x, y) for y in rows for x in columns)
    return next(point for point in points if card.fix_at(point) is card.problem.fixes[0])


def test_a_fix_button_mends(panel, document, layers, hand) -> None:
    document.new(Project(graph=chain(layers, "input", "conv2d", "dense")))
    panel.view.fit()
    problem = next(p for p in document.analysis.problems if p.fixes and p.node)
    panel.show_problem(problem)
    assert panel.scene.card.problem.node == problem.node
    kinds = [node.kind for node in document.graph.nodes.values()]
    title = panel.scene.card.problem.fixes[0].title
    hand.click(first_button(panel.scene.card))
    assert [node.kind for node in document.graph.nodes.values()] != kinds
    assert document.undo_stack.undoText() == title


def test_double_click_on_nothing_searches(small, document, hand) -> None:
    place = center(small, "n2") + QPointF(330, 0)
    hand.double_click(place)
    assert small.search.isVisible()
    QTest.keyClicks(small.search._field, "zzzz")
    QTest.keyClick(small.search._field, Qt.Key.Key_Return)
    assert small.search.isVisible()
    assert steps(document) == 0
    QTest.keyClick(small.search._field, Qt.Key.Key_Escape)
    assert not small.search.isVisible()


def test_double_click_on_a_node_opens_its_settings(small, hand, qtbot) -> None:
    with qtbot.waitSignal(small.view.node_activated) as activated:
        hand.double_click(center(small, "n3"))
    assert activated.args == ["n3"]


def test_the_canvas_scrolls_while_dragging_at_its_edge(small, document, hand, qtbot) -> None:
    start = center(small, "n4")
    hand.press(start)
    edge = small.view.mapToScene(small.view.viewport().rect().bottomRight())
    top = small.view.visible_rect().top()
    hand.move(edge - QPointF(300, 4))
    qtbot.waitUntil(lambda: small.view.visible_rect().top() > top + 40)
    moved = small.scene.nodes["n4"].pos().y()
    assert moved > document.positions["n4"][1]
    hand.key(Qt.Key.Key_Escape)
    assert not small.view._scroller.ticks.isActive()
    assert small.scene.nodes["n4"].pos().y() == document.positions["n4"][1]
