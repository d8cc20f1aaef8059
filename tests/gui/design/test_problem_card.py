"""The card of a problem: all of it is seen, and every button can be clicked."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, QRect, QRectF, Qt

from tests.gui.design.hand import chain
from workbench.core.network.graph import Edge, Node
from workbench.core.projects.project import Project, View
from workbench.gui.design.canvas.problems import CARD_WIDTH
from workbench.templates import find_template

ZOOMS = (0.15, 0.22, 0.35, 0.6, 0.8, 1.0, 1.5)


def network_with_loose_layers(layers):
    """A column of six, a side branch at the right whose end leads nowhere, and layers that are
    not connected at the edges of the drawing.
    """
    graph = chain(layers, "input", "conv2d", "conv2d", "relu", "flatten", "dense")
    places = {f"n{i}": (0.0, i * 110.0) for i in range(1, 7)}
    for key, place in {
        "top": (0.0, -320.0),
        "right": (640.0, 240.0),
        "low": (40.0, 1180.0),
        "left": (-640.0, 980.0),
        "corner": (680.0, 1160.0),
    }.items():
        graph = graph.with_node(Node(key, "conv2d", f"loose_{key}", layers["conv2d"].defaults()))
        places[key] = place
    graph = graph.with_edge(Edge("n3", "right"))
    return Project(graph=graph, view=View(positions=places, center=(0.0, 400.0)))


def shown(panel):
    """The card's place in the view."""
    card = panel.scene.card
    return QRectF(panel.view.mapFromScene(card.mapRectToScene(card.size)).boundingRect()).toRect()


def covering(panel):
    return [bar.geometry() for bar in panel.view.overlays if bar.isVisible()]


def assert_seen(panel):
    place = shown(panel)
    assert panel.view.viewport().rect().contains(place)
    assert not [bar for bar in covering(panel) if QRect(bar).intersects(place)]


def test_the_card_is_of_the_problem_that_the_status_line_leads_to(panel, document) -> None:
    document.new(find_template("lenet5").project)
    flatten = next(node.id for node in document.graph.nodes.values() if node.kind == "flatten")
    document.remove([], document.graph.edges_into(flatten))
    assert len(document.analysis.errors) == 2
    assert panel.scene.card.problem.node == document.analysis.errors[0].node == flatten


@pytest.mark.parametrize("zoom", ZOOMS)
@pytest.mark.parametrize("node", ["top", "right", "low", "left", "corner"])
def test_show_brings_all_of_the_card_into_view(panel, document, layers, zoom, node) -> None:
    document.new(network_with_loose_layers(layers))
    panel.view.set_zoom(zoom)
    (problem,) = document.analysis.problems_by_node[node]
    panel.show_problem(problem)
    assert panel.scene.card.problem == problem
    is_all_in_sight = zoom < 0.5  # an overview would only cover what it shows
    assert len(covering(panel)) == (1 if is_all_in_sight else 2)
    assert_seen(panel)


@pytest.mark.parametrize("zoom", ZOOMS)
def test_it_can_be_read_and_stays_seen_while_the_view_moves(panel, document, layers, zoom) -> None:
    document.new(network_with_loose_layers(layers))
    panel.show_problem(document.analysis.problems_by_node["right"][0])
    panel.view.set_zoom(zoom)
    panel.view.center_on(panel.scene.nodes["right"].card_rect().center())
    for across, down in ((150, 0), (0, 170), (-380, 0), (0, -330), (390, 300)):
        panel.view.pan_by(QPointF(across, down))
        node = panel.scene.nodes["right"].card_rect()
        if panel.view.visible_rect().contains(node):
            assert_seen(panel)
    assert shown(panel).width() >= CARD_WIDTH * 0.79


@pytest.mark.parametrize("zoom", [0.15, 0.35, 1.0])
def test_every_button_can_be_clicked(panel, document, layers, hand, zoom) -> None:
    document.new(network_with_loose_layers(layers))
    problem = document.analysis.problems_by_node["right"][0]
    for fix in problem.fixes:
        panel.view.set_zoom(zoom)
        panel.show_problem(problem)
        card = panel.scene.card
        place = shown(panel)
        points = (
            QPointF(x, y)
            for y in range(place.top(), place.bottom(), 3)
            for x in range(place.left(), place.right(), 3)
        )
        scene_points = (panel.view.pointer(p, Qt.KeyboardModifier.NoModifier).scene for p in points)
        hand.click(next(point for point in scene_points if card.fix_at(point) == fix))
        assert document.undo_stack.undoText() == fix.title
        document.undo_stack.undo()


def test_the_words_of_a_button_are_wrapped_and_never_cut(panel, document, layers) -> None:
    graph = chain(layers, "input", "conv2d")
    document.new(Project(graph=graph))
    panel.show_problem(document.analysis.errors[0])
    card = panel.scene.card
    longest = max(card.problem.fixes, key=lambda fix: len(fix.title))
    ink = panel.scene.look.button_ink
    assert ink.metrics.horizontalAdvance(longest.title) > CARD_WIDTH
    for fix, place in zip(card.problem.fixes, card.button_places(), strict=True):
        room = QRectF(0, 0, place.width() - 20, 4000)
        flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignCenter
        words = ink.metrics.boundingRect(room, int(flags), fix.title)
        assert words.width() <= room.width() + 1
        assert words.height() <= place.height()
        assert card.size.contains(place)


def test_it_keeps_to_the_view_when_that_becomes_small(panel, document, layers) -> None:
    document.new(network_with_loose_layers(layers))
    panel.show_problem(document.analysis.problems_by_node["left"][0])
    panel.resize(700, 480)
    panel.show_problem(document.analysis.problems_by_node["left"][0])
    assert_seen(panel)


def blue(panel):
    """The filled button of the card; "" for none."""
    card = panel.scene.card
    return next((f.title for i, f in enumerate(card.fixes) if card.is_primary(i)), "")


def click_fix(panel, hand, title):
    card = panel.scene.card
    index = [fix.title for fix in card.fixes].index(title)
    hand.click(card.mapToScene(card.button_places()[index].center()))


def whole_network(layers):
    return chain(layers, "input", "conv2d", "max_pooling2d", "flatten", "dense", "dense")


@pytest.mark.parametrize("selected", [[], ["n2"], ["n3"]])
def test_the_filled_button_joins_what_was_cut(panel, document, layers, hand, selected) -> None:
    document.new(Project(graph=whole_network(layers)))
    panel.view.set_zoom(1.0)
    panel.scene.select([], [Edge("n2", "n3")])
    panel.action("delete").trigger()
    assert not document.graph.targets("n2")
    panel.scene.select(selected)
    here, other = ("n2", "n3") if selected == ["n2"] else ("n3", "n2")
    if here == "n2":  # an open end may be meant to be built on: its remark has to be asked for
        assert panel.scene.card.problem.node == "n3"
        panel.show_problem(document.analysis.problems_by_node["n2"][0])
    assert panel.scene.card.problem.node == here
    assert blue(panel) == f"Connect to “{document.graph.nodes[other].name}”"
    click_fix(panel, hand, blue(panel))
    assert document.graph == whole_network(layers)


def test_a_network_without_its_input_gets_one_by_the_filled_button(
    panel, document, layers, hand
) -> None:
    document.new(Project(graph=whole_network(layers)))
    panel.view.set_zoom(1.0)
    panel.scene.select(["n1"])
    panel.action("delete").trigger()
    assert panel.scene.card.problem.node == "n2"
    assert blue(panel) == document.analysis.errors[0].fixes[0].title == "Add Input"
    click_fix(panel, hand, "Add Input")
    kinds = [document.graph.nodes[key].kind for key in document.graph.order]
    assert kinds == ["input", "conv2d", "max_pooling2d", "flatten", "dense", "dense"]


def test_removing_a_layer_is_never_the_filled_button(panel, document, layers) -> None:
    graph = chain(layers, "input", "conv2d", "flatten", "dense")
    graph = graph.with_node(Node("x", "dense", "side", layers["dense"].defaults()))
    document.new(Project(graph=graph.with_edge(Edge("n3", "x"))))
    assert [fix.title for fix in panel.scene.card.fixes] == ["Remove “dense”"]
    assert blue(panel) == ""


def line_box(card):
    """What the card's line covers, in scene pixels."""
    return QRectF(card.mapToScene(card._anchor), card.mapToScene(card._end)).normalized()


def crossed_by_line(panel):
    card = panel.scene.card
    line = line_box(card).adjusted(-0.5, -0.5, 0.5, 0.5)
    others = [item for key, item in panel.scene.nodes.items() if key != card.problem.node]
    return [item.node_id for item in others if item.card_rect().intersects(line)]


def beside_a_column(layers, right):
    graph = chain(layers, "input", "conv2d", "max_pooling2d", "flatten", "dense")
    places = {f"n{i}": (0.0, i * 110.0) for i in range(1, 6)}
    graph = graph.with_node(Node("x", "conv2d", "side", layers["conv2d"].defaults()))
    return Project(graph=graph, view=View(positions={**places, "x": (right, 220.0)}))


def test_the_line_of_the_card_crosses_no_other_layer_where_there_is_room(
    panel, document, layers
) -> None:
    """The near side is behind another layer; on the far one the line runs above the others."""
    graph = chain(layers, "input", "conv2d", "flatten", "dense")
    graph = graph.with_node(Node("x", "conv2d", "side", layers["conv2d"].defaults()))
    places = {"n2": (-270.0, 0.0), "x": (0.0, 0.0)}
    places |= {"n1": (280.0, 66.0), "n3": (530.0, 66.0), "n4": (780.0, 66.0)}
    document.new(Project(graph=graph, view=View(positions=places)))
    panel.resize(2400, 330)
    panel.view.set_zoom(1.0)
    panel.view.center_on(QPointF(300, 25))
    panel.scene.select(["x"])
    assert panel.scene.card.problem.node == "x"
    assert_seen(panel)
    assert crossed_by_line(panel) == []
    assert not panel.scene.card.is_line_crossing
    panel.view.center_on(QPointF(3300, 25))
    panel.scene.settle_card(anywhere=True)
    assert crossed_by_line(panel) == []


def test_the_layer_is_marked_where_the_line_of_its_card_crosses_another(
    panel, document, layers
) -> None:
    document.new(beside_a_column(layers, 270.0))
    panel.resize(1000, 330)
    panel.view.set_zoom(1.0)
    view = panel.view
    view.center_on(QPointF(0, 250))
    panel.scene.select(["n1"])
    card = panel.scene.card
    assert card.problem.node == "x"
    assert crossed_by_line(panel) == ["n2"]
    assert card.is_line_crossing
    assert [key for key, item in panel.scene.nodes.items() if item.is_marked] == ["x"]
    panel.resize(1400, 800)
    view.center_on(QPointF(300, 250))
    panel.scene.settle_card()
    assert crossed_by_line(panel) == []
    assert not panel.scene.nodes["x"].is_marked
