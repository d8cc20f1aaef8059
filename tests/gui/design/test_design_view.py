"""Palette and inspector, on the real document."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QDrag, QHoverEvent, QIcon, QStatusTipEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QListWidget

from tests.gui.design.hand import Hand
from workbench.backbones import all_backbones
from workbench.gui.design.canvas.gesture import LAYER_MIME
from workbench.gui.help import HelpViewer
from workbench.templates import find_template


@pytest.fixture
def design(cifar):
    return cifar.show_view("design")


def find(design, kind, index=0):
    nodes = design.canvas._document.graph.nodes.values()
    return [node.id for node in nodes if node.kind == kind][index]


def shown(panel):
    """The titles of the layers in the palette's list, without its headings."""
    items = (panel.list.item(row) for row in range(panel.list.count()))
    is_layer = Qt.ItemFlag.ItemIsSelectable
    return [item.text() for item in items if item.flags() & is_layer and not item.isHidden()]


def test_palette_lists_every_layer(design, context):
    listed = [title.split(" · ")[0] for title in shown(design.panels["palette"])]
    backbones = [spec.title for spec in all_backbones().values()]
    assert set(listed) == {*(spec.title for spec in context.layers.values()), *backbones}


def test_the_palette_begins_with_what_most_networks_have(design):
    """A layer of that group is in its own category, too; a search finds it once."""
    panel = design.panels["palette"]
    assert panel.list.item(0).text() == "Common"
    assert shown(panel)[:5] == ["Input", "Conv2D", "MaxPooling2D", "Dense", "Flatten"]
    panel.search.setText("dense")
    assert shown(panel).count("Dense") == 1
    panel.search.setText("")
    assert shown(panel).count("Dense") == 2


def test_all_lists_of_layers_have_one_kind_of_icon_which_a_selection_leaves_as_it_is(
    design, context, qtbot
):
    size, modes = QSize(18, 18), (QIcon.Mode.Normal, QIcon.Mode.Selected)
    palette = design.panels["palette"]
    palette.search.setText("dense")
    design.canvas.search.open_at(QPoint(0, 0))
    QTest.keyClicks(design.canvas.search.findChild(QLineEdit), "dense")
    viewer = HelpViewer(context.layers, context.theme)
    qtbot.addWidget(viewer)
    shown = []
    for widget in (palette.list, design.canvas.search.findChild(QListWidget), viewer.list):
        (item,) = widget.findItems("Dense", Qt.MatchFlag.MatchExactly)[-1:]
        shown += [item.icon().pixmap(size, 2.0, mode).toImage() for mode in modes]
    assert all(image == shown[0] for image in shown)
    assert shown[0].pixelColor(18, 3) == QColor(context.theme.category_color("core"))


def test_an_input_size_without_channels_gets_those_of_the_data_set(design, context, qtbot):
    context.document.new(find_template("fashion_convnet").project)
    design.canvas.select([find(design, "input")])
    form = design.panels["inspector"].form
    with qtbot.waitSignal(form.value_changed) as changed:
        line = form.editor_widget("shape").findChild(QLineEdit) or form.editor_widget("shape")
        line.setFocus()
        line.selectAll()
        QTest.keyClicks(line, "192")
        QTest.keyClick(line, Qt.Key.Key_Return)
    assert changed.args == ["shape", (192, 192, 1)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("InputLayer", "Input"),
        ("1x1", "Conv2D"),
        ("pointwise", "Conv2D"),
        ("x = Conv2D(32, (3, 3), padding='same', activation='relu')(x)", "Conv2D"),
        ("model.add(keras.layers.MaxPooling2D(2))", "MaxPooling2D"),
        ("tf.keras.layers.Dense(10, activation='softmax'),", "Dense"),
        ("layers.add([x, shortcut])", "Add"),
    ],
)
def test_words_of_tutorials_are_found(design, text, title):
    panel = design.panels["palette"]
    panel.search.setText(text)
    assert title in shown(panel)
    if "(" in text:
        assert panel.list.currentItem().text() == title
    labels = [each.text() for each in panel.findChildren(QLabel) if each.isVisibleTo(panel)]
    assert ("Added with default settings, not those in the code" in labels) == ("(" in text)


def test_the_search_of_the_canvas_says_that_arguments_are_not_taken_over(design):
    design.canvas.action("add").trigger()
    listed = design.canvas.search.findChild(QListWidget)
    QTest.keyClicks(design.canvas.search.findChild(QLineEdit), "x = Conv2D(48, (5, 5))(x)")
    texts = [listed.item(row).text() for row in range(listed.count())]
    assert texts[0] == listed.currentItem().text() == "Conv2D"
    assert texts[-1] == "Added with default settings, not those in the code"


def test_no_row_stays_lit_after_a_drag(design, qtbot):
    panel = design.panels["palette"]
    panel.list.setCurrentRow(3)
    panel.list._end_hover()
    assert panel.list.currentItem() is None


def test_no_row_is_lit_by_the_move_that_began_a_drag(design, qtbot, monkeypatch):
    """Qt tells the list where the pointer is once the drag is over."""
    palette = design.panels["palette"].list
    palette.setCurrentRow(-1)
    plain = palette.viewport().grab().toImage()
    monkeypatch.setattr(QDrag, "exec", lambda *_: Qt.DropAction.CopyAction)
    palette.setCurrentRow(3)
    palette.startDrag(Qt.DropAction.CopyAction)
    place = QPointF(palette.visualItemRect(palette.item(4)).center())
    hover = QHoverEvent(QEvent.Type.HoverMove, place, place, place)
    QApplication.sendEvent(palette.viewport(), hover)
    assert palette.viewport().grab().toImage() != plain
    qtbot.waitUntil(lambda: palette.viewport().grab().toImage() == plain)


def test_the_data_set_is_named_on_the_card_of_input_and_a_click_leads_to_it(cifar, design, qtbot):
    scene, view = design.canvas.scene, design.canvas.view
    item = scene.nodes[find(design, "input")]
    assert item.facts.data == "CIFAR-10"
    point = item.data_place().translated(item.pos()).center()
    assert scene.is_data_at(point)
    assert not scene.is_data_at(item.pos() + QPointF(20, 18))
    view.reveal([item.node_id])
    Hand(design.canvas).click(point)
    assert cifar.views.current_key == "data"


def test_buttons_of_the_canvas_leave_the_figures_in_the_status_bar(window, design):
    bar = design.canvas.overlays.zoom_bar
    button = bar.findChildren(QAbstractButton)[0]
    window.say("before")
    QApplication.sendEvent(button, QStatusTipEvent("Shrinks the view."))
    assert window.status.currentMessage() == "before"


@pytest.mark.parametrize(
    ("text", "found"),
    [("conv2d", "conv2d"), ("max pool", "max_pooling2d"), ("FLATTEN", "flatten")],
)
def test_search_finds_and_enter_adds(design, context, qtbot, text, found):
    panel = design.panels["palette"]
    before = len(context.document.graph.nodes)
    panel.start_search()
    qtbot.keyClicks(panel.search, text)
    assert panel.list.currentItem().data(Qt.ItemDataRole.UserRole) == found
    qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    assert len(context.document.graph.nodes) == before + 1
    assert list(context.document.graph.nodes.values())[-1].kind == found


def test_a_layer_is_added_behind_the_selected_one(design, context):
    last = context.document.graph.order[-1]
    design.canvas.select([last])
    design.state.layer_chosen.emit("dropout")
    new = list(context.document.graph.nodes)[-1]
    assert context.document.graph.sources(new) == (last,)


def test_search_without_a_match_says_so(design, qtbot):
    panel = design.panels["palette"]
    qtbot.keyClicks(panel.search, "xyzzy")
    assert shown(panel) == []
    assert panel._nothing.isVisible()
    assert "xyzzy" in panel._nothing.text()
    panel.search.clear()
    assert shown(panel)


def test_arrows_in_the_search_line_move_through_the_list(design, qtbot):
    panel = design.panels["palette"]
    qtbot.keyClicks(panel.search, "pool")
    first = panel.list.currentRow()
    qtbot.keyClick(panel.search, Qt.Key.Key_Down)
    assert panel.list.currentRow() > first


def test_a_drag_carries_the_layers_key(design):
    items = [
        design.panels["palette"].list.item(r) for r in range(design.panels["palette"].list.count())
    ]
    dense = next(item for item in items if item.text() == "Dense")
    mime = design.panels["palette"].list.mimeData([dense])
    assert bytes(mime.data(LAYER_MIME).data()) == b"dense"


def test_matches_words_in_any_order(design, qtbot):
    panel = design.panels["palette"]
    qtbot.keyClicks(panel.search, "pooling global")
    assert "GlobalAveragePooling2D" in shown(panel)
    panel.search.setText("conv")
    assert "Dense" not in shown(panel)


def test_inspector_shows_the_selected_layer(design):
    design.canvas.select([find(design, "conv2d", 1)])
    inspector = design.panels["inspector"]
    assert inspector.heading.text() == "Conv2D"
    assert inspector.form.editor_widget("filters").value() == 32
    facts = inspector.facts.facts()
    assert facts["Output"] == "32 × 32 × 32"
    assert facts["Parameters"] == "9,248"
    assert facts["Multiply-adds"].endswith("%)")


def test_editing_a_setting_is_one_undoable_step(design, context, qtbot):
    node = find(design, "conv2d")
    design.canvas.select([node])
    box = design.panels["inspector"].form.editor_widget("filters")
    box.selectAll()
    qtbot.keyClicks(box, "48")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert context.document.graph.nodes[node].params["filters"] == 48
    assert design.panels["inspector"].facts.facts()["Output"] == "32 × 32 × 48"
    context.document.undo_stack.undo()
    assert box.value() == 32
    assert not context.document.is_dirty


def test_a_name_that_is_taken_is_explained(design, context, qtbot):
    first, second = find(design, "conv2d"), find(design, "conv2d", 1)
    taken = context.document.graph.nodes[second].name
    design.canvas.select([first])
    name = design.panels["inspector"].name
    name.selectAll()
    qtbot.keyClicks(name, taken)
    qtbot.keyClick(name, Qt.Key.Key_Return)
    assert taken in design.panels["inspector"].name_error.text()
    assert design.panels["inspector"].name_error.isVisible()
    assert context.document.graph.nodes[first].name != taken


def test_several_and_none_selected(design):
    design.canvas.select([find(design, "conv2d"), find(design, "conv2d", 1)])
    assert design.panels["inspector"].heading.text() == "2 Conv2D layers"
    assert design.panels["inspector"].facts.facts()["Parameters"] == "10,144"
    design.canvas.select([])
    assert design.panels["inspector"].heading.text() == "The network"
    assert design.panels["inspector"].facts.facts()["Parameters"] == "1,676,982"


def test_inspector_mends_a_problem(design, context, qtbot):
    context.document.remove([find(design, "flatten")])
    design.canvas.select([])
    buttons = design.panels["inspector"].problems.findChildren(QAbstractButton)
    fix = next(b for b in buttons if b.accessibleName() == "Insert Flatten")
    qtbot.mouseClick(fix, Qt.MouseButton.LeftButton)
    assert context.document.undo_stack.undoText() == "Insert Flatten"


def test_the_inspector_of_a_last_dense_offers_both_ways_to_the_classes(design, context, qtbot):
    """Without an activation it may be the output, or a hidden layer."""
    nodes = context.document.graph.nodes.values()
    (last,) = [node for node in nodes if not context.document.graph.targets(node.id)]
    context.document.set_params(last.id, units=12, activation="linear")
    design.canvas.select([last.id])
    problems = design.panels["inspector"].problems

    def names():
        buttons = problems.findChildren(QAbstractButton)
        return [each.accessibleName() or each.text() for each in buttons if each.isVisible()]

    qtbot.waitUntil(lambda: "Set units to 10" in names())
    assert names()[:2] == ["Set units to 10", "Add a Dense layer with 10 units"]


def test_help_of_a_layer_opens_its_page(cifar, design, qtbot):
    design.canvas.select([find(design, "dropout")])
    qtbot.mouseClick(design.panels["inspector"].more, Qt.MouseButton.LeftButton)
    viewer = cifar.help._viewer
    assert viewer.isVisible()
    assert "Dropout" in viewer.page.toPlainText()
    viewer.close()


def test_enter_and_escape_leave_the_search(cifar, design, qtbot):
    panel, canvas = design.panels["palette"], design.canvas.view
    cifar.activateWindow()
    qtbot.waitUntil(cifar.isActiveWindow)
    panel.start_search()
    qtbot.keyClicks(panel.search, "drop")
    qtbot.keyClick(panel.search, Qt.Key.Key_Return)
    assert canvas.hasFocus()
    panel.start_search()
    qtbot.keyClicks(panel.search, "xyzzy")
    qtbot.keyClick(panel.search, Qt.Key.Key_Escape)
    assert canvas.hasFocus()
    assert len(shown(panel)) > 30


@pytest.mark.parametrize("field", ["filters", "kernel_size", "name"])
def test_undo_in_a_field_undoes_the_edit_once_it_is_made(cifar, design, context, qtbot, field):
    node = find(design, "conv2d")
    before = context.document.graph
    cifar.activateWindow()
    qtbot.waitUntil(cifar.isActiveWindow)
    design.canvas.select([node])
    inspector = design.panels["inspector"]
    box = inspector.name if field == "name" else inspector.form.editor_widget(field)
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "7")
    qtbot.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert context.document.graph == before  # the typing is undone, nothing else
    assert box.text() != "7"
    box.selectAll()
    qtbot.keyClicks(box, "7")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert context.document.graph != before
    shown = box.text()
    qtbot.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert context.document.graph == before
    assert box.text() != shown


def test_an_unknown_layer_is_explained(design, context):
    project = context.document.project
    node = replace(project.graph.nodes[find(design, "flatten")], kind="hologram")
    context.document.new(replace(project, graph=project.graph.with_node(node)))
    design.canvas.select([node.id])
    assert "hologram" in design.panels["inspector"].heading.text()
    assert design.panels["inspector"]._what_heading.text() == "About this layer"
    assert "kept unchanged" in design.panels["inspector"].what.text()


def test_no_hint_on_a_tpu_for_the_layer_of_the_classes(design):
    inspector = design.panels["inspector"]
    design.canvas.select([find(design, "dense", 0)])
    first = inspector.tpu.isVisible()
    design.canvas.select([find(design, "conv2d")])
    assert inspector.tpu.isVisible()
    design.canvas.select([find(design, "dense", 1)])
    assert not inspector.tpu.isVisible()
    assert not first  # 512 units fill the unit


def test_no_hint_on_a_tpu_for_the_classes_before_a_softmax_of_its_own(design, context):
    dense = find(design, "dense", 1)
    design.canvas.select([dense])
    context.document.set_params(dense, activation="linear")
    context.document.add_node("softmax", after=dense)
    assert not design.panels["inspector"].tpu.isVisible()


def test_a_missing_activation_is_hinted_at_with_a_button_that_sets_it(design, context, qtbot):
    dense = find(design, "dense")
    context.document.set_params(dense, activation="linear")
    design.canvas.select([dense])
    buttons = design.panels["inspector"].problems.findChildren(QAbstractButton)
    fix = next(each for each in buttons if each.accessibleName() == "Set activation to relu")
    qtbot.mouseClick(fix, Qt.MouseButton.LeftButton)
    assert context.document.graph.nodes[dense].params["activation"] == "relu"
    assert context.document.analysis.problems == []


def click_middle_of(design, qtbot, edge):
    view, line = design.canvas.view, design.canvas.scene.edges[edge]
    view.center_on(line.middle_point())
    place = view.mapFromScene(line.middle_point())
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_selected_connection_is_shown_with_what_can_be_done(design, context, qtbot):
    inspector, document = design.panels["inspector"], context.document
    pool = find(design, "max_pooling2d")
    (edge,) = document.graph.edges_into(pool)
    click_middle_of(design, qtbot, edge)
    assert design.canvas.scene.selected_edges() == [edge]
    assert inspector.heading.text() == "Connection"
    start, end = (document.graph.nodes[key].name for key in (edge.source, pool))
    assert inspector.connection.words.text() == f"From Conv2D “{start}”\nto MaxPooling2D “{end}”"
    assert inspector.facts.facts() == {"Shape": "32 × 32 × 32"}
    qtbot.mouseClick(inspector.connection.remove, Qt.MouseButton.LeftButton)
    assert edge not in document.graph.edges
    assert inspector.heading.text() == "The network"
    assert not inspector.connection.isVisible()
    document.undo_stack.undo()
    assert inspector.heading.text() == "Connection"


def test_a_layer_is_inserted_into_the_selected_connection(design, context, qtbot):
    inspector, document = design.panels["inspector"], context.document
    pool = find(design, "max_pooling2d")
    (edge,) = document.graph.edges_into(pool)
    click_middle_of(design, qtbot, edge)
    qtbot.mouseClick(inspector.connection.insert, Qt.MouseButton.LeftButton)
    search = design.canvas.search
    assert search.isVisible()
    field = search.findChild(QLineEdit)
    qtbot.keyClicks(field, "relu")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    (added,) = document.graph.sources(pool)
    assert document.graph.nodes[added].kind == "relu"
    assert document.graph.sources(added) == (edge.source,)


def test_several_connections_are_removed_together(design, context, qtbot):
    inspector, document = design.panels["inspector"], context.document
    edges = [document.graph.edges_into(find(design, "conv2d", index))[0] for index in (1, 2)]
    design.canvas.scene.select([], edges)
    assert inspector.heading.text() == "2 connections"
    assert not inspector.connection.insert.isVisible()
    assert inspector.facts.facts() == {"Connections": "2"}
    qtbot.mouseClick(inspector.connection.remove, Qt.MouseButton.LeftButton)
    assert not set(edges) & set(document.graph.edges)


def test_a_connection_into_one_of_several_inputs_names_it(design, context):
    document = context.document
    merge = document.add_node("add", (900.0, 0.0))
    document.connect(find(design, "conv2d"), merge)
    document.connect(find(design, "conv2d", 1), merge)
    second = document.graph.edges_into(merge)[1]
    design.canvas.scene.select([], [second])
    facts = design.panels["inspector"].facts.facts()
    assert facts == {"Shape": "32 × 32 × 32", "Into input": "2 of 2"}


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_selected_connection_is_a_thick_line_with_both_ends(design, context, qapp, mode):
    context.theme.set_mode(mode)
    context.theme.apply(qapp)
    view, scene = design.canvas.view, design.canvas.scene
    view.set_zoom(1.0)
    (edge,) = context.document.graph.edges_into(find(design, "max_pooling2d"))
    line = scene.edges[edge]
    view.center_on(line.middle_point())

    def wide(point):
        """How many pixels of a row across the line are blue."""
        image, at = view.viewport().grab().toImage(), view.mapFromScene(point)
        ratio = image.devicePixelRatio()
        row = range(at.x() - 12, at.x() + 13)
        colors = [image.pixelColor(round(x * ratio), round(at.y() * ratio)) for x in row]
        return sum(color == scene.look.accent for color in colors)

    start = line.middle_point() * 2 - line.end_point()
    assert wide(line.middle_point()) == 0
    scene.select([], [edge])
    assert wide(line.middle_point()) >= 3
    assert wide(line.end_point() - QPointF(0, 3)) >= 8
    assert wide(start + QPointF(0, 3)) >= 8


def test_a_name_that_is_refused_has_a_red_field(design, context, qtbot):
    node = find(design, "conv2d")
    design.canvas.select([node])
    inspector = design.panels["inspector"]
    for text, is_bad in (("my/conv layer", True), ("my_conv", False)):
        inspector.name.setFocus()
        inspector.name.selectAll()
        qtbot.keyClicks(inspector.name, text)
        qtbot.keyClick(inspector.name, Qt.Key.Key_Return)
        assert inspector.name_error.isVisible() == is_bad
        assert bool(inspector.name.property("bad")) == is_bad
    qtbot.keyClicks(inspector.name, "my/conv")
    qtbot.keyClick(inspector.name, Qt.Key.Key_Return)
    assert inspector.name.property("bad")
    design.canvas.select([find(design, "flatten")])
    assert not inspector.name.property("bad")
