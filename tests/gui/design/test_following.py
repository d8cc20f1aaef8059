"""Selection, view and keyboard follow what was done: by undo, by fixes, by drops."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from tests.gui.design.hand import LEFT, chain, hint
from workbench.core.network.graph import Edge
from workbench.core.projects.project import Project
from workbench.templates import find_template

CTRL = Qt.KeyboardModifier.ControlModifier
NONE = Qt.KeyboardModifier.NoModifier


def is_inside(panel, key: str) -> bool:
    """The whole card is seen, and no overlay covers it."""
    card = panel.view.mapFromScene(panel.scene.nodes[key].card_rect()).boundingRect()
    bars = [bar.geometry() for bar in panel.view.overlays if not bar.isHidden()]
    return panel.view.viewport().rect().contains(card) and not any(map(card.intersects, bars))


# undo -----------------------------------------------------------------------------------


def test_undo_and_redo_bring_the_selection_back(small, document, hand) -> None:
    small.select(["n2"])
    hand.key(Qt.Key.Key_D, CTRL)
    (copy,) = small.scene.selected_ids()
    small.select([])
    small.select([copy])
    document.undo_stack.undo()
    assert small.scene.selected_ids() == ["n2"]
    document.undo_stack.redo()
    assert small.scene.selected_ids() == [copy]


def test_what_was_deleted_is_selected_again(small, document, hand) -> None:
    small.scene.select(["n2", "n3"])
    hand.key(Qt.Key.Key_Delete)
    document.undo_stack.undo()
    assert small.scene.selected_ids() == ["n2", "n3"]
    small.scene.select([], [Edge("n3", "n4")])
    hand.key(Qt.Key.Key_Delete)
    small.select(["n1"])
    document.undo_stack.undo()
    assert small.scene.selected_edges() == [Edge("n3", "n4")]
    assert small.scene.selected_ids() == []


def test_what_undo_changed_is_shown(small, document) -> None:
    small.select(["n2"])
    document.set_params("n2", filters=48)
    small.view.center_on(QPointF(6000, 6000))
    document.undo_stack.undo()
    assert is_inside(small, "n2")
    shown = small.view.visible_rect()
    document.undo_stack.redo()
    assert small.view.visible_rect() == shown


@pytest.mark.parametrize("key", [Qt.Key.Key_C, Qt.Key.Key_X])
def test_copying_nothing_says_so(small, document, hand, key) -> None:
    small.scene.select([], [Edge("n1", "n2")])
    hand.key(key, CTRL)
    assert hint(small).startswith("No layer is selected.")
    assert document.undo_stack.count() == 0
    assert small.view.refusal_timer.isActive()
    small.view.refusal_timer.timeout.emit()
    assert hint(small) == ""


# fixes ----------------------------------------------------------------------------------


@pytest.fixture
def unflat(panel, document, layers):
    """A Dense that lacks a Flatten."""
    document.new(Project(graph=chain(layers, "input", "conv2d", "dense")))
    panel.view.set_zoom(1.0)
    return panel


def first_fix(document):
    return next(p.fixes[0] for p in document.analysis.problems if p.fixes and p.node)


def test_a_fix_is_selected_seen_and_has_the_keyboard(unflat, document, qtbot) -> None:
    unflat.view.center_on(QPointF(5000, 5000))
    unflat.overlays.zoom_bar.setFocus()
    before = set(document.graph.nodes)
    document.apply_fix(first_fix(document))
    (added,) = set(document.graph.nodes) - before
    assert unflat.scene.selected_ids() == [added]
    assert is_inside(unflat, added)
    assert unflat.view.hasFocus()


def test_a_fix_of_a_setting_selects_its_layer(unflat, document) -> None:
    document.apply_fix(first_fix(document))
    document.set_params("n3", units=7)
    unflat.select([])
    fix = first_fix(document)
    document.apply_fix(fix)
    (changed,) = unflat.scene.selected_ids()
    assert changed == "n3" or changed not in {"n1", "n2"}


def test_a_fix_in_the_inspector_gives_the_keyboard_to_the_canvas(cifar, context, qtbot) -> None:
    design = cifar.show_view("design")
    cifar.activateWindow()
    qtbot.waitUntil(cifar.isActiveWindow)
    document = context.document
    flatten = next(n.id for n in document.graph.nodes.values() if n.kind == "flatten")
    document.remove([flatten])
    design.canvas.select([])
    buttons = design.panels["inspector"].problems.findChildren(QAbstractButton)
    fix = next(b for b in buttons if b.accessibleName() == "Insert Flatten")
    fix.setFocus()
    QTest.mouseClick(fix, LEFT)
    (added,) = design.canvas.scene.selected_ids()
    assert document.graph.nodes[added].kind == "flatten"
    assert design.canvas.view.hasFocus()


# drops ----------------------------------------------------------------------------------


def test_a_layer_inserted_near_the_lower_edge_is_seen(small, document, hand) -> None:
    middle = small.scene.edges[Edge("n2", "n3")].middle_point()
    low = small.view.viewport().rect().bottom() - 2
    small.view.pan_by(QPointF(0, low) - QPointF(0, small.view.mapFromScene(middle).y()))
    hand.drop_layer("batch_normalization", middle)
    (added,) = small.scene.selected_ids()
    assert is_inside(small, added)


def test_a_pasted_group_and_a_found_layer_are_seen(small, document, hand) -> None:
    small.view.center_on(QPointF(3000, 3000))
    for key in ("n1", "n3", "n4"):
        small.select([key])
        assert is_inside(small, key)
    small.view.center_on(QPointF(3000, 3000))
    hand.key(Qt.Key.Key_D, CTRL)
    assert is_inside(small, small.scene.selected_ids()[0])


# the window -----------------------------------------------------------------------------


def shown_content(design):
    return design.canvas.view.viewportTransform().mapRect(design.canvas.scene.content_rect())


def test_the_network_stays_in_the_middle_of_a_window_narrowed_meanwhile(window, qtbot) -> None:
    window.resize(1440, 900)
    window.files.new(find_template("lenet5").project)
    design = window.show_view("design")
    view = design.canvas.view
    wide = view.width()
    middle = shown_content(design).center().x()
    assert middle == pytest.approx(wide / 2, abs=2)
    window.show_view("welcome")
    window.resize(1000, 700)
    window.show_view("design")
    qtbot.waitUntil(lambda: view.width() < wide - 300)
    assert shown_content(design).center().x() == pytest.approx(view.width() / 2, abs=3)
    assert view.viewport().rect().contains(shown_content(design).center().toPoint())
    window.resize(1440, 900)
    qtbot.waitUntil(lambda: view.width() == wide)
    assert shown_content(design).center().x() == pytest.approx(middle, abs=3)


def test_the_overview_is_left_out_while_the_whole_network_is_in_sight(small):
    """It might cover a card."""
    overview, view = small.overlays.minimap, small.view
    view.fit()
    assert not overview.isVisibleTo(view)
    view.set_zoom(8.0)
    assert overview.isVisibleTo(view)
    view.fit()
    assert not overview.isVisibleTo(view)


# the first look -------------------------------------------------------------------------

KINDS = ("input", "rescaling", "conv2d", "max_pooling2d", "global_average_pooling2d")
SMALL_VIEWS = [(483, 533), (483, 500), (700, 540), (900, 733), (480, 800)]


def left_at(project: Project, zoom: float, center: tuple[float, float]) -> Project:
    return replace(project, view=replace(project.view, zoom=zoom, center=center))


def looked_at(panel, document, size: tuple[int, int], graph, view=(1.0, (118.0, 250.0))) -> None:
    """Opens a project that was left at zoom and middle `view` in a canvas of this size."""
    panel.resize(*size)
    document.new(Project(graph=graph))
    document.arrange()
    document.new(left_at(document.project, *view))


@pytest.mark.parametrize("size", SMALL_VIEWS)
@pytest.mark.parametrize("number", [3, 5, 6, 7])
def test_a_network_that_can_be_read_as_a_whole_is_opened_as_a_whole(
    panel, document, layers, size, number
) -> None:
    kinds = [*KINDS, "dense", "dense"][: number - 1]
    looked_at(panel, document, size, chain(layers, *kinds, "dense"))
    for look in (lambda: None, panel.view.zoom_in, panel.view.zoom_out):
        look()
        panel.action("fit").trigger()
        assert all(is_inside(panel, key) for key in panel.scene.nodes)
        assert 0.75 <= panel.view.zoom <= 1.0


@pytest.mark.parametrize("size", SMALL_VIEWS)
def test_a_network_that_cannot_be_read_as_a_whole_is_opened_at_its_beginning(
    panel, document, layers, size
) -> None:
    graph = chain(layers, "input", *["relu"] * 16, "flatten", "dense")
    looked_at(panel, document, size, graph, view=(1.0, (9000.0, 9000.0)))
    assert panel.view.zoom == 1.0
    seen = [key for key in panel.scene.nodes if is_inside(panel, key)]
    assert seen[:3] == ["n1", "n2", "n3"]
    bars = [bar.geometry() for bar in panel.view.overlays if not bar.isHidden()]
    for item in panel.scene.nodes.values():
        card = panel.view.mapFromScene(item.card_rect()).boundingRect()
        assert not any(map(card.intersects, bars)), "nothing lies over a part of a card either"


def test_opening_does_not_change_where_a_project_was_left(panel, document, layers) -> None:
    looked_at(panel, document, (483, 533), chain(layers, *KINDS))
    assert document.project.view.center == (118.0, 250.0)


@pytest.mark.parametrize("size", SMALL_VIEWS)
def test_fit_selection_leaves_out_what_lies_over_the_canvas(panel, document, layers, size) -> None:
    looked_at(panel, document, size, chain(layers, "input", *["relu"] * 9, "dense"))
    panel.scene.select(["n7", "n8", "n9", "n10"])
    panel.action("fit_selection").trigger()
    assert all(is_inside(panel, key) for key in ("n7", "n8", "n9", "n10"))
