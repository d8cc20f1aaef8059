"""Remarks on the canvas: one at a time, when it is wanted, and never where something is dropped."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QToolTip

from tests.gui.design.hand import chain
from workbench.core.network.graph import Edge
from workbench.core.network.layout import GAP, NODE_HEIGHT
from workbench.core.projects.project import Project


def is_card_seen(panel):
    return panel.scene.card is not None and panel.scene.card.isVisible()


def rest_on(panel, hand, node):
    """The pointer rests on a layer."""
    hand.move(panel.scene.nodes[node].card_rect().center(), button=Qt.MouseButton.NoButton)


@pytest.fixture
def begun(panel, document, layers):
    """A network of an Input and a layer: nothing is wrong, the rest is still to come."""
    document.new(Project(graph=chain(layers, "input", "conv2d")))
    panel.view.set_zoom(1.0)
    return panel


@pytest.fixture
def wrong(panel, document, layers):
    """A layer in the middle that has lost its input."""
    document.new(Project(graph=chain(layers, "input", "conv2d", "flatten", "dense")))
    panel.view.set_zoom(1.0)
    document.remove([], [Edge("n2", "n3")])
    return panel


def test_building_on_is_not_nagged_about(begun, document) -> None:
    """The status line says what comes next; card, mark and inspector do not."""
    assert document.analysis.blocking_words.startswith("Not finished")
    for selected in ([], ["n1"], ["n2"]):
        begun.scene.select(selected)
        assert not is_card_seen(begun)
    assert begun.scene.nodes["n2"].facts.severity == ""


def test_the_remark_opens_where_the_pointer_rests_and_by_train(
    begun, document, hand, qtbot
) -> None:
    rest_on(begun, hand, "n2")
    qtbot.waitUntil(lambda: is_card_seen(begun))
    assert begun.scene.card.problem is document.analysis.errors[0]
    begun.scene.close_card()
    assert not is_card_seen(begun)
    begun.show_problem(document.analysis.errors[0])
    assert is_card_seen(begun)


def test_the_next_layer_ends_a_remark_about_the_end(begun, document) -> None:
    begun.show_problem(document.analysis.errors[0])
    document.add_node("max_pooling2d", after="n2")
    assert not is_card_seen(begun)


def test_a_remark_is_closed_by_its_button_until_something_else_is_wrong(
    wrong, document, hand
) -> None:
    assert is_card_seen(wrong)
    card = wrong.scene.card
    hand.click(card.mapToScene(card.close_place().center()))
    assert not is_card_seen(wrong)
    wrong.scene.select(["n3"])
    assert not is_card_seen(wrong)
    document.remove([], [Edge("n3", "n4")])
    assert is_card_seen(wrong)
    assert wrong.scene.card.problem.node == "n4"


def test_a_remark_is_hidden_while_something_is_dragged(wrong, hand) -> None:
    start = wrong.scene.nodes["n2"].card_rect().center()
    hand.press(start)
    assert is_card_seen(wrong)
    hand.move(start + QPointF(60, 40))
    assert not is_card_seen(wrong)
    hand.release(start + QPointF(60, 40))
    assert is_card_seen(wrong)


def test_a_remark_leaves_the_place_of_the_next_layer_free(begun, document) -> None:
    begun.show_problem(document.analysis.errors[0])
    below = begun.scene.nodes["n2"].card_rect().translated(0, NODE_HEIGHT + GAP)
    card = begun.scene.card
    assert not card.mapRectToScene(card.size).intersects(below)


def test_layers_that_a_text_names_are_not_marked_like_problems(wrong) -> None:
    look = wrong.scene.look
    assert look.marked_pen.color() != look.warning
    assert look.marked_pen.style() == Qt.PenStyle.DotLine


def test_fit_shows_all_of_a_large_network(panel, document, layers) -> None:
    graph = chain(layers, "input", *["relu"] * 200)
    places = {f"n{number + 1}": (0.0, number * 90.0) for number in range(201)}
    document.new(Project(graph=graph))
    document.move(places)
    panel.view.fit()
    seen = panel.view.visible_rect()
    assert all(seen.contains(item.card_rect()) for item in panel.scene.nodes.values())
    panel.view.zoom_in()
    assert panel.overlays.minimap.isVisible()


def test_an_arranged_long_network_can_be_read_when_it_fits(panel, document, layers) -> None:
    kinds = [kind for _ in range(15) for kind in ("conv2d", "batch_normalization")]
    document.new(Project(graph=chain(layers, "input", *kinds)))
    document.arrange()
    panel.view.fit()
    assert panel.view.zoom > 0.45
    assert len({round(item.pos().x()) for item in panel.scene.nodes.values()}) > 1


def test_freezing_is_offered_for_layers_with_weights_only(panel, document, layers) -> None:
    document.new(Project(graph=chain(layers, "input", "conv2d", "max_pooling2d")))
    for selected, is_offered in ((["n3"], False), (["n2"], True), (["n2", "n3"], True)):
        panel.scene.select(selected)
        assert panel.action("train").isEnabled() is is_offered
        assert panel.action("freeze").isEnabled() is is_offered


@pytest.mark.parametrize("beside", ["card", "nothing"])
def test_a_tip_is_beside_its_layer_and_covers_no_port_and_no_button(
    begun, document, beside
) -> None:
    item = begun.scene.nodes["n2"]
    if beside == "card":
        begun.show_problem(document.analysis.errors[0])
        buttons = begun.scene.card.mapRectToScene(begun.scene.card.size)
    for point in (item.output_point() - QPointF(0, 3), item.card_rect().center()):
        tip = tip_at(begun.view, point)
        assert tip.text().startswith("Conv2D")
        place = begun.view.mapToScene(
            QRect(begun.view.viewport().mapFromGlobal(tip.pos()), tip.size())
        ).boundingRect()
        assert not place.intersects(item.card_rect())
        if beside == "card":
            assert not place.intersects(buttons)
        else:
            assert place.left() > item.card_rect().right()
        QToolTip.hideText()


def tip_at(view, point) -> QLabel:
    """The tip that rests of the pointer at a scene point bring."""
    place = view.mapFromScene(point)
    event = QHelpEvent(QEvent.Type.ToolTip, place, view.viewport().mapToGlobal(place))
    QApplication.sendEvent(view.viewport(), event)
    (tip,) = (each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel"))
    return tip
