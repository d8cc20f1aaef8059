"""When layers learn: by the inspector, by the menu, and how cards show it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from tests.gui.design.test_groups import BLOCK, center, grouped_chain, title
from tests.gui.design.test_menus import choose, right_click, words
from workbench.core.network.graph import TRAININGS, Graph
from workbench.core.projects.project import Project, View
from workbench.gui.design.canvas.blocks import GroupItem
from workbench.gui.kit.theme import Theme


@pytest.fixture
def project(layers) -> Project:
    """The folded block with the weights of a pretrained network."""
    project = grouped_chain(layers)
    nodes = {
        key: replace(node, pretrained=f"mobilenet/{node.name}" if node.group else "")
        for key, node in project.graph.nodes.items()
    }
    return replace(project, graph=Graph(nodes, project.graph.edges))


@pytest.fixture
def grouped(panel, document, project):
    document.new(project)
    panel.view.set_zoom(1.0)
    return panel


@pytest.fixture
def design(qtbot, window, project):
    """The whole design view with the folded block."""
    window.context.document.new(project)
    view = window.show_view("design")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return view


@pytest.fixture
def inspector(design):
    return design.panels["inspector"]


def trainings(document) -> str:
    """The first letter of each layer's training: a, f or n."""
    return "".join(document.graph.nodes[key].training[0] for key in document.graph.order)


def pick(box, training: str) -> None:
    """As people do: opens the list, goes to the entry, and confirms."""
    box.setFocus()
    box.showPopup()
    view = box.view()
    place = view.visualRect(box.model().index(TRAININGS.index(training), 0)).center()
    QTest.mouseMove(view.viewport(), place)
    QTest.keyClick(view, Qt.Key.Key_Home)
    for _ in range(TRAININGS.index(training)):
        QTest.keyClick(view, Qt.Key.Key_Down)
    QTest.keyClick(view, Qt.Key.Key_Return)


def test_the_menu_fine_tunes_from_a_layer_on_in_one_step(grouped, document) -> None:
    document.open_group("block")
    grouped.view.reveal(["n2"])
    menu = right_click(grouped, center(grouped, "n2"))
    assert {"Freeze layers", "Train layers", "Fine-tune from here on", "Train from here on"} <= set(
        words(menu)
    )
    choose(menu, "Fine-tune from here on")
    assert trainings(document) == "afnfaa"
    assert document.undo_stack.undoText() == "Fine-tune from conv2d on"
    choose(right_click(grouped, center(grouped, "n4")), "Train from here on")
    assert trainings(document) == "annaaa"
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert trainings(document) == "aaaaaa"


def test_the_menu_freezes_a_whole_group(grouped, document) -> None:
    card = center(grouped, BLOCK) - QPointF(60, 20)
    choose(right_click(grouped, card), "Freeze layers")
    assert trainings(document) == "annnaa"
    item = grouped.scene.nodes[BLOCK]
    assert isinstance(item, GroupItem)
    assert item.group_facts.state == "frozen"
    document.open_group("block")
    choose(right_click(grouped, title(grouped)), "Train layers")
    assert trainings(document) == "aaaaaa"


def test_the_inspector_shows_a_group_and_renames_it(inspector, design, context) -> None:
    design.canvas.scene.select([BLOCK])
    assert inspector.heading.text() == "Group"
    assert inspector.name.text() == "block"
    assert inspector.form is None
    inspector.name.selectAll()
    QTest.keyClicks(inspector.name, "base")
    QTest.keyClick(inspector.name, Qt.Key.Key_Return)
    assert set(context.document.graph.groups) == {"base"}


def test_the_inspector_sets_when_layers_learn(inspector, design, context) -> None:
    design.canvas.scene.select([BLOCK])
    box = inspector.training
    assert box.isVisible()
    assert box.choice.currentText() == "Always"
    pick(box.choice, "never")
    assert trainings(context.document) == "annnaa"
    context.document.open_group("block")
    design.canvas.scene.select(["n2"])
    assert box.choice.currentText() == "Never (frozen)"
    pick(box.choice, "fine_tuning")
    assert trainings(context.document) == "afnnaa"
    design.canvas.scene.select(["n2", "n3"])
    assert box.choice.currentIndex() == -1
    design.canvas.scene.select(["n5"])
    assert not box.isVisible()
    assert "trainable" in box.choice.toolTip()


def test_the_inspector_says_where_weights_are_from(inspector, design, context) -> None:
    design.canvas.scene.select([BLOCK])
    box = inspector.training
    assert (
        box.weights.text()
        == "Start with the weights of MobileNet (alpha 0.25), trained on ImageNet"
    )
    context.document.open_group("block")
    design.canvas.scene.select(["n2"])
    assert box.weights.text() == (
        "Starts with the weights of MobileNet (alpha 0.25), conv2d, trained on ImageNet"
    )
    QTest.mouseClick(box.random, Qt.MouseButton.LeftButton)
    assert context.document.graph.nodes["n2"].pretrained == ""
    assert not box.random.isVisible()
    context.document.undo_stack.undo()
    assert context.document.graph.nodes["n2"].pretrained == "mobilenet/conv2d"


def test_another_type_does_not_keep_the_weights(grouped, document) -> None:
    document.change_kind("n2", "depthwise_conv2d")
    assert document.graph.nodes["n2"].pretrained == ""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_cards_show_it_by_color_and_by_a_mark(qtbot, layers, document, project, mode) -> None:
    from workbench.gui.design.canvas_panel import CanvasPanel

    theme = Theme(mode)
    panel = CanvasPanel(SimpleNamespace(document=document, theme=theme, layers=layers))
    qtbot.addWidget(panel)
    document.new(replace(project, view=View()))
    panel.resize(700, 800)
    panel.show()
    panel.view.set_zoom(1.0)
    seen = {}
    for training in TRAININGS:
        document.set_training(["n2"], training)
        rect = panel.view.mapFromScene(panel.scene.nodes["n2"].card_rect()).boundingRect()
        image = panel.view.viewport().grab(rect).toImage()
        colors = {image.pixelColor(image.width() - 4, y).name() for y in range(8, 44)}
        seen[training] = colors, image.copy(image.width() - 40, 4, 30, 24)
    tones = {"never": theme.colors.frozen, "fine_tuning": theme.colors.fine_tuning}
    for training, tone in tones.items():
        assert tone in seen[training][0]
        assert tone not in seen["always"][0]
        assert seen[training][1] != seen["always"][1]
    assert panel.scene.nodes["n2"].facts.training == "never"
    assert "Frozen" in panel.scene.tooltip_at(center(panel, "n2"))
    assert "frozen, in group block" in panel.scene.nodes["n2"].facts.accessible_text()
    assert "In the group block" in panel.scene.tooltip_at(center(panel, "n2"))
