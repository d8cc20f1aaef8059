"""Pretrained networks from the palette: dropped, chosen, and what becomes of the network."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QByteArray, QMimeData, QPointF, Qt
from PySide6.QtTest import QTest

from tests.gui.design.hand import Hand, chain, hint
from workbench.backbones import all_backbones
from workbench.core.network.folding import card_id
from workbench.core.network.graph import Edge
from workbench.core.projects.project import Project
from workbench.gui.design.canvas.blocks import GroupItem
from workbench.gui.design.canvas.gesture import BACKBONE_MIME

SPEC = min(all_backbones().values(), key=lambda spec: spec.order)
CARD = card_id(SPEC.title)
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def design(qtbot, window):
    view = window.show_view("design")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return view


@pytest.fixture
def palette(design):
    return design.panels["palette"]


def rows(palette):
    items = (palette.list.item(row) for row in range(palette.list.count()))
    return [item for item in items if not item.isHidden()]


def drop(panel, point: QPointF) -> None:
    """The whole way from the palette, with real events."""
    hand, mime = Hand(panel), QMimeData()
    mime.setData(BACKBONE_MIME, QByteArray(SPEC.key.encode()))
    assert hand.enter_mime(mime, point + QPointF(30, 0))
    assert hand.drag_over(point)
    assert hand.drop(point)


def kinds(document):
    return [document.shown.graph.nodes[key].name for key in document.shown.graph.order]


def test_the_palette_lists_them_with_their_facts(palette) -> None:
    titles = [item.text() for item in rows(palette)]
    start = titles.index("Backbones") + 1
    listed = rows(palette)[start : start + len(all_backbones())]
    for item, spec in zip(
        listed, sorted(all_backbones().values(), key=lambda spec: spec.order), strict=True
    ):
        tip = item.toolTip()
        assert item.text().startswith(spec.title)
        assert spec.license in " ".join(tip.splitlines())
        assert "parameters" in tip
        assert ("Included" in tip) == spec.is_bundled
        assert ("MB once" in tip) == (not spec.is_bundled)
        assert item.text().endswith("MB") == (not spec.is_bundled)


def test_one_is_found_and_inserted_by_its_name_into_an_empty_network(palette, context) -> None:
    QTest.keyClicks(palette.search, SPEC.title[:6])
    assert SPEC.title in [item.text() for item in rows(palette)]
    QTest.keyClick(palette.search, Qt.Key.Key_Return)
    document = context.document
    assert kinds(document) == ["input", SPEC.title]
    start = next(node for node in document.graph.nodes.values() if node.name == "input")
    assert start.params["shape"] == SPEC.input_shape
    assert document.folded == {SPEC.title}
    assert {problem.severity for problem in document.analysis.errors} == {"unfinished"}
    assert document.undo_stack.count() == 1
    assert document.analysis.costs.parameters.trainable == 0
    document.undo_stack.undo()
    assert not document.graph.nodes


def test_a_chosen_one_goes_behind_the_images_and_their_augmentation(design, context) -> None:
    document, layers = context.document, context.layers
    graph = chain(layers, "input", "random_flip", "global_average_pooling2d", "dense")
    document.new(Project(graph=graph.with_params("n1", shape=(96, 96, 3))))
    design.state.backbone_chosen.emit(SPEC.key)
    assert kinds(document) == [
        "input",
        "random_flip",
        SPEC.title,
        "global_average_pooling2d",
        "dense",
    ]
    assert design.canvas.scene.selected_ids() == [CARD]
    places = document.shown_positions
    assert places["n2"][1] < places[CARD][1] < places["n3"][1] < places["n4"][1]
    assert len({places[key][0] for key in places}) == 1


def search_for(panel, text: str) -> list[str]:
    """Types into the search box of the canvas; what it offers."""
    QTest.keyClicks(panel.search._field, text)
    listed = panel.search._list
    return [listed.item(row).text() for row in range(listed.count())]


def enter(panel) -> None:
    QTest.keyClick(panel.search._field, Qt.Key.Key_Return)


@pytest.mark.parametrize("text", [SPEC.title[:9].lower(), "resnet", "pretrained", "imagenet"])
def test_the_search_box_of_the_canvas_offers_them_first(design, context, text) -> None:
    document = context.document
    document.new(Project(graph=chain(context.layers, "input", "flatten", "dense")))
    document.set_params("n1", shape=(96, 96, 3))
    design.canvas.action("add").trigger()
    offered = search_for(design.canvas, text)
    titles = {spec.title for spec in all_backbones().values()}
    named = {title for title in titles if text in title.lower()}
    assert set(offered[: len(named) or len(titles)]) == (named or titles)
    enter(design.canvas)
    assert kinds(document) == ["input", offered[0], "flatten", "dense"]
    assert design.canvas.scene.selected_ids() == [card_id(offered[0])]
    assert document.undo_stack.count() == 2


def test_a_layer_whose_name_begins_so_is_offered_before_them(design, context) -> None:
    context.document.new(Project(graph=chain(context.layers, "input")))
    design.canvas.action("add").trigger()
    listed = search_for(design.canvas, "res")
    assert listed[0] in {spec.title for spec in context.layers.values()}
    assert "ResNet50" in listed[1:]


@pytest.mark.parametrize("way", ["on", "after", "before", "at", "behind"])
def test_the_search_box_inserts_one_where_it_was_asked(design, context, way) -> None:
    document, panel = context.document, design.canvas
    document.new(Project(graph=chain(context.layers, "input", "flatten", "dense")))
    document.set_params("n1", shape=(96, 96, 3))
    edge = Edge("n1", "n2")
    panel.view.reveal(["n1", "n2"])
    adder = panel.adder
    if way == "on":
        adder.search_on(edge)
    elif way == "after":
        adder.search_after("n1")
    elif way == "before":
        adder.search_before("n2")
    elif way == "at":
        adder.search_at(panel.scene.edges[edge].middle_point(), "")
    else:
        adder.search_at(panel.scene.nodes["n1"].output_point() + QPointF(400, 50), "n1")
    assert SPEC.title in search_for(panel, SPEC.title)
    enter(panel)
    assert card_id(SPEC.title) in document.shown.graph.nodes
    assert document.shown.graph.sources(CARD) == ("n1",)
    assert document.graph.sources("n2") != ("n1",) or way == "behind"


def test_a_refused_place_is_explained_and_a_replacement_offers_none(design, context) -> None:
    document, panel = context.document, design.canvas
    document.new(Project(graph=chain(context.layers, "input", "flatten", "dense")))
    panel.select(["n3"])
    panel.action("add").trigger()
    search_for(panel, SPEC.title)
    enter(panel)
    assert "image" in hint(panel)
    assert len(document.graph.nodes) == 3
    panel.adder.search_replacement("n2")
    assert search_for(panel, SPEC.title) == ["No layer has that name"]
    panel.adder.search_before("n1")
    assert search_for(panel, SPEC.title) == ["No layer has that name"]


def test_one_is_dropped_on_a_connection(design, context) -> None:
    document = context.document
    document.new(Project(graph=chain(context.layers, "input", "flatten", "dense")))
    document.set_params("n1", shape=(96, 96, 3))
    panel = design.canvas
    panel.view.set_zoom(1.0)
    panel.view.reveal(["n1", "n2"])
    middle = panel.scene.edges[Edge("n1", "n2")].middle_point()
    mime = QMimeData()
    mime.setData(BACKBONE_MIME, QByteArray(SPEC.key.encode()))
    hand = Hand(panel)
    hand.enter_mime(mime, middle)
    hand.drag_over(middle)
    assert hint(panel) == "Insert between input and flatten"
    hand.leave()
    assert len(document.graph.nodes) == 3
    drop(panel, middle)
    assert kinds(document) == ["input", SPEC.title, "flatten", "dense"]
    assert isinstance(panel.scene.nodes[CARD], GroupItem)
    assert panel.scene.nodes[CARD].facts.words.startswith("96 × 96 × 3")


def test_grayscale_and_small_images_are_fitted(design, context) -> None:
    """One line leads to the card, though three channels are made of one."""
    document = context.document
    document.new(Project(graph=chain(context.layers, "input")))
    document.set_params("n1", shape=(28, 28, 1))
    design.state.backbone_chosen.emit(SPEC.key)
    assert document.analysis.shapes[document.shown.exit(CARD)] == (SPEC.num_features,)
    assert list(document.shown.graph.edges) == [Edge("n1", CARD)]
    assert {problem.severity for problem in document.analysis.errors} == {"unfinished"}


def test_one_behind_features_is_refused_with_the_reason(design, context) -> None:
    document = context.document
    document.new(Project(graph=chain(context.layers, "input", "flatten", "dense")))
    panel = design.canvas
    panel.view.set_zoom(1.0)
    panel.view.reveal(["n2", "n3"])
    drop(panel, panel.scene.edges[Edge("n2", "n3")].middle_point())
    assert "images only" in hint(panel)
    assert len(document.graph.nodes) == 3


def test_a_second_one_gets_a_name_of_its_own(design, context) -> None:
    document = context.document
    document.new(Project(graph=chain(context.layers, "input")))
    document.set_params("n1", shape=(64, 64, 3))
    document.insert_backbone(SPEC, after="n1")
    document.insert_backbone(SPEC, after="n1")
    assert len(document.graph.groups) == 2
    cards = [document.shown_positions[key] for key in document.shown.members]
    assert abs(cards[0][0] - cards[1][0]) > 200 or abs(cards[0][1] - cards[1][1]) > 60


def test_partly_fine_tuned_it_opens_and_folds(design, context, qtbot) -> None:
    document = context.document
    document.new(Project(graph=chain(context.layers, "input", "dense")))
    document.set_params("n1", shape=(64, 64, 3))
    design.state.backbone_chosen.emit(SPEC.key)
    panel = design.canvas
    hand = Hand(panel)
    panel.view.set_zoom(1.0)
    panel.view.reveal([CARD])
    hand.click(panel.scene.nodes[CARD].button_rect().center())
    assert SPEC.title in panel.scene.frames
    ids = document.graph.groups[SPEC.title]
    with_weights = [key for key in ids if document.graph.nodes[key].pretrained]
    document.train_from(with_weights[len(with_weights) // 2], "fine_tuning")
    assert "No fine-tuning phase" in {p.title for p in document.analysis.problems}
    document.set_recipe(epochs=4, fine_tuning_after=2)
    assert "No fine-tuning phase" not in {p.title for p in document.analysis.problems}
    kept = [
        key for key in ids if context.layers[document.graph.nodes[key].kind].has_batch_statistics
    ]
    assert kept
    assert all(document.graph.nodes[key].training == "never" for key in kept)
    panel.groups.toggle(SPEC.title)
    state = panel.scene.nodes[CARD].group_facts.state
    assert "frozen" in state
    assert "fine-tuned" in state


@pytest.fixture
def inserted(design, context):
    """A pretrained network behind Input, opened."""
    document = context.document
    document.new(Project(graph=chain(context.layers, "input")))
    document.set_params("n1", shape=(64, 64, 3))
    document.insert_backbone(SPEC, after="n1")
    document.open_group(SPEC.title)
    return document


def test_pretrained_weights_that_no_longer_fit_are_reported(inserted, context) -> None:
    layers = context.layers
    key = next(
        key
        for key, node in inserted.graph.nodes.items()
        if node.pretrained and "filters" in layers[node.kind].defaults()
    )
    inserted.set_params(key, kernel_size=(5, 5))
    own = inserted.analysis.problems_by_node[key]
    problem = next(p for p in own if p.title == "Pretrained weights do not fit")
    assert problem.stops_training
    forget = next(fix for fix in problem.fixes if "random weights" in fix.title)
    inserted.apply_fix(forget)
    assert inserted.graph.nodes[key].pretrained == ""
    titles = {p.title for p in inserted.analysis.problems_by_node.get(key, ())}
    assert "Pretrained weights do not fit" not in titles


def test_random_weights_become_the_pretrained_ones_again(design, inserted, qtbot) -> None:
    panel, box = design.canvas, design.panels["inspector"].training
    before = inserted.graph
    with_weights = [key for key, node in before.nodes.items() if node.pretrained]
    panel.scene.select(inserted.graph.groups[SPEC.title])
    assert SPEC.title in box.weights.text()
    assert not box.restore.isVisible()
    QTest.mouseClick(box.random, Qt.MouseButton.LeftButton)
    assert not any(node.pretrained for node in inserted.graph.nodes.values())
    QTest.mouseClick(box.restore, Qt.MouseButton.LeftButton)
    assert inserted.graph == before
    panel.scene.select(with_weights[:1])
    QTest.mouseClick(box.random, Qt.MouseButton.LeftButton)
    assert inserted.graph.nodes[with_weights[0]].pretrained == ""
    QTest.mouseClick(box.restore, Qt.MouseButton.LeftButton)
    assert inserted.graph == before
