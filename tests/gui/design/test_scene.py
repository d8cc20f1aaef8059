"""The scene shows what the document says, and nothing else."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF

from tests.gui.design.hand import chain
from workbench.core.network.graph import Edge, Graph
from workbench.core.network.layout import NODE_WIDTH
from workbench.core.projects.project import Project
from workbench.core.registry import Registry
from workbench.gui.design.canvas.scene import GraphScene
from workbench.gui.design.canvas.style import CanvasStyle
from workbench.gui.kit.theme import allow_motion, is_motion_allowed


def mirror(panel, document) -> None:
    """The scene holds exactly the document's nodes and edges, at their positions."""
    scene = panel.scene
    assert list(scene.nodes) == list(document.graph.nodes)
    assert set(scene.edges) == set(document.graph.edges)
    for key, item in scene.nodes.items():
        assert item.pos().toTuple() == document.positions[key]
        assert item.facts.name == document.graph.nodes[key].name
    for edge, line in scene.edges.items():
        assert QPointF(*line.route[0]) == scene.nodes[edge.source].output_point()
        assert line.end_point().y() == scene.nodes[edge.target].input_point().y()


def test_every_edit_undo_and_redo_is_mirrored(small, document) -> None:
    mirror(small, document)
    added = document.add_node("dropout", edge=Edge("n2", "n3"))
    mirror(small, document)
    document.set_params(added, rate=0.5)
    mirror(small, document)
    document.move({"n4": (400.0, 300.0)})
    mirror(small, document)
    document.remove(["n3"])
    mirror(small, document)
    document.arrange()
    mirror(small, document)
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
        mirror(small, document)
    while document.undo_stack.canRedo():
        document.undo_stack.redo()
        mirror(small, document)
    document.new(Project())
    mirror(small, document)


def test_cards_say_settings_parameters_and_shape(small, document) -> None:
    document.set_params("n2", filters=16, padding="same")
    facts = small.scene.nodes["n2"].facts
    assert facts.title == "Conv2D"
    assert "16 filters" in facts.words
    assert facts.count == f"{document.analysis.costs.nodes['n2'].parameters.total:,}"
    height, width, channels = document.analysis.shapes["n2"]
    assert facts.shape == f"{height} × {width} × {channels}"
    assert facts.shape.replace(" × ", " by ") in facts.accessible_text()


def test_only_what_changed_is_repainted(small, document, monkeypatch) -> None:
    repainted = []
    for key, item in small.scene.nodes.items():
        before = item.update
        monkeypatch.setattr(item, "update", lambda key=key, f=before: (repainted.append(key), f()))
    document.set_params("n4", units=7)
    assert repainted == ["n4"]


def test_an_unknown_kind_is_a_placeholder(panel, document, layers) -> None:
    document.new(Project(graph=chain(layers, "input", "hologram", "flatten")))
    facts = panel.scene.nodes["n2"].facts
    assert not facts.is_known
    assert facts.title == "hologram"
    assert facts.words == "Unknown layer"
    assert "kept unchanged" in panel.scene.tooltip_at(panel.scene.nodes["n2"].card_rect().center())
    panel.grab()


def test_a_problem_has_a_card_beside_its_node(panel, document, layers) -> None:
    document.new(Project(graph=chain(layers, "input", "flatten", "conv2d", "dense")))
    card = panel.scene.card
    assert card is not None
    assert card.problem.node == "n3"
    place = card.mapRectToScene(card.size)
    assert place.left() > panel.scene.nodes["n3"].box.right
    assert not any(place.intersects(item.card_rect()) for item in panel.scene.nodes.values())
    document.new(Project(graph=chain(layers, "input", "flatten")))
    shown = panel.scene.card
    assert shown is None or shown.problem.node != "n3"


def test_the_card_keeps_clear_of_other_cards(panel, document, layers) -> None:
    document.new(Project(graph=chain(layers, "input", "flatten", "conv2d", "dense")))
    x, y = document.positions["n3"]
    document.move({"n4": (x + NODE_WIDTH + 60, y)})
    card = panel.scene.card
    place = card.mapRectToScene(card.size)
    assert not any(place.intersects(item.card_rect()) for item in panel.scene.nodes.values())


def test_the_selected_nodes_problem_comes_first(panel, document, layers) -> None:
    document.new(Project(graph=chain(layers, "input", "flatten", "conv2d")))
    document.add_node("conv2d", (500.0, 0.0))
    first = panel.scene.card.problem.node
    other = next(
        key
        for key, item in panel.scene.nodes.items()
        if item.facts.severity == "unfinished" and key != first
    )
    panel.select([other])
    assert panel.scene.card.problem.node == other
    panel.select([])
    assert panel.scene.card.problem.node == first


def test_selection_is_emitted_once_and_in_the_graphs_order(small, qtbot) -> None:
    selections = []
    small.scene.selection_changed.connect(selections.append)
    small.select(["n4", "n2", "n3"])
    assert selections == [["n2", "n3", "n4"]]


def test_a_changed_theme_reaches_every_color(small, theme) -> None:
    before = small.grab().toImage()
    theme.set_mode("dark")
    after = small.grab().toImage()
    assert small.scene.look.panel.name() == theme.colors.panel
    assert after.pixelColor(2, 2).name() == theme.colors.canvas
    assert before.pixelColor(2, 2) != after.pixelColor(2, 2)


def test_lines_write_the_shape_where_no_other_line_runs(panel, document, layers) -> None:
    graph = chain(layers, "input", "conv2d", "conv2d", "conv2d", "add")
    graph = graph.with_edge(Edge("n2", "n5", 1))
    document.new(Project(graph=graph))
    document.arrange()
    skip = panel.scene.edges[Edge("n2", "n5", 1)]
    item = panel.scene.nodes["n2"]
    assert skip.route[1][0] > item.box.right
    place = item.shape_place(is_left=item.is_shape_left).translated(item.pos())
    assert not skip.crosses(place)


@pytest.mark.parametrize("count", [300])
def test_three_hundred_nodes_are_shown(panel, document, layers, count) -> None:
    document.new(Project(graph=chain(layers, "input", *["relu"] * (count - 1))))
    assert len(panel.scene.nodes) == count
    panel.view.fit()
    assert panel.view.zoom < 0.35
    image = panel.grab().toImage()
    middle = panel.view.mapFromScene(panel.scene.nodes["n150"].card_rect().center())
    colors = {
        image.pixelColor(middle.x() + dx, middle.y() + dy).name()
        for dx in range(-16, 17)
        for dy in range(-4, 5)
    }
    assert len(colors) > 1


def test_a_scene_without_nodes_is_well(document, theme) -> None:
    scene = GraphScene(document, Registry({}), CanvasStyle(theme))
    assert scene.content_rect().isEmpty()
    assert scene.tooltip_at(QPointF(0, 0)) == ""
    assert document.graph == Graph()


def test_the_card_and_its_line_are_where_they_are_painted(panel, document, layers) -> None:
    document.new(Project(graph=chain(layers, "input", "flatten", "conv2d", "dense")))
    card = panel.scene.card
    line_start = panel.scene.nodes["n3"].box.right - card.pos().x()
    assert card.boundingRect().left() <= line_start


def test_the_card_is_on_the_side_that_is_seen(panel, document, layers) -> None:
    document.new(Project(graph=chain(layers, "input", "flatten", "conv2d", "dense")))
    panel.view.set_zoom(1.0)
    node = panel.scene.nodes["n3"]
    for shift, is_right in ((300.0, False), (-300.0, True)):
        panel.view.center_on(node.card_rect().center() - QPointF(shift, 0))
        document.set_params("n3", filters=round(abs(shift)) + is_right)
        place = panel.scene.card.mapRectToScene(panel.scene.card.size)
        assert (place.left() > node.box.right) == is_right
        seen = panel.view.visible_rect()
        assert seen.left() <= place.left()
        assert place.right() <= seen.right()


@pytest.fixture(params=[True, False], ids=["motion", "no motion"])
def motion(qapp, request):
    before = is_motion_allowed()
    allow_motion(is_allowed=request.param)
    yield request.param
    allow_motion(is_allowed=before)


def test_layers_that_make_room_glide_to_places_that_count_at_once(
    panel, document, layers, qtbot, motion
):
    document.new(Project(graph=chain(layers, "input", "conv2d", "flatten", "dense")))
    scene = panel.scene
    before = {key: item.pos() for key, item in scene.nodes.items()}
    new = document.add_node("dropout", edge=Edge("n2", "n3"))
    pushed = [scene.nodes[key] for key in ("n3", "n4")]
    line = scene.edges[Edge("n3", "n4")]
    for key, item in zip(("n3", "n4"), pushed, strict=True):
        assert item.pos().toTuple() == document.positions[key]
        assert item.pos().y() > before[key].y()
    is_still = [item.transform().isIdentity() for item in (*pushed, line)]
    assert is_still == [not motion] * 3
    assert all(scene.nodes[key].transform().isIdentity() for key in ("n1", "n2", new))
    if motion:
        shown = scene.nodes["n4"].mapToScene(QPointF())
        assert before["n4"].y() <= shown.y() < document.positions["n4"][1]
        qtbot.waitUntil(lambda: scene.glide.state() == scene.glide.State.Stopped)
    assert all(item.transform().isIdentity() for item in (*pushed, line))
