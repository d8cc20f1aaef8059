"""Finding a layer in the network, adding one from the palette, and panels that commands open."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from tests.big_network import deep_project
from tests.gui.design.hand import Hand

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def design(qtbot, cifar):
    view = cifar.show_view("design")
    cifar.activateWindow()
    qtbot.waitUntil(cifar.isActiveWindow)
    view.canvas.view.setFocus()
    return view


def press(key, modifiers=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(QApplication.focusWidget(), key, modifiers)


def type_keys(text):
    QTest.keyClicks(QApplication.focusWidget(), text)


def of_kind(design, kind):
    graph = design.canvas.scene.document.graph
    return [key for key in graph.order if graph.nodes[key].kind == kind]


def close(panel):
    """Clicks the cross of a panel."""
    cross = next(
        each
        for each in panel.parentWidget().findChildren(QAbstractButton)
        if each.accessibleName().startswith("Close panel")
    )
    QTest.mouseClick(cross, LEFT)
    assert panel.parentWidget().isHidden()


def test_find_selects_shows_and_goes_around(design):
    canvas, bar = design.canvas, design.canvas.find_bar
    pools = of_kind(design, "max_pooling2d")
    press(Qt.Key.Key_F, CTRL)
    assert bar.field.hasFocus()
    type_keys("maxpool")
    walked = [canvas.scene.selected_ids()]
    for modifiers in (Qt.KeyboardModifier.NoModifier,) * len(pools):
        press(Qt.Key.Key_Return, modifiers)
        walked.append(canvas.scene.selected_ids())
        card = canvas.scene.nodes[walked[-1][0]].card_rect()
        assert canvas.view.visible_rect().contains(card)
    assert walked == [[key] for key in (*pools, pools[0])]
    assert bar.count.text() == f"1 of {len(pools)}"
    press(Qt.Key.Key_Return, SHIFT)
    assert canvas.scene.selected_ids() == [pools[-1]]
    press(Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert canvas.view.hasFocus()
    assert canvas.scene.selected_ids() == [pools[-1]]


def test_the_words_of_all_layers_are_known_before_the_first_letter(design, context, qtbot):
    context.document.new(deep_project(20))
    press(Qt.Key.Key_F, CTRL)
    words = design.canvas.find_bar._search._words
    assert len(words) < 50  # not in the key press
    qtbot.waitUntil(lambda: set(words) >= set(context.document.graph.nodes))


def test_find_finds_settings_and_names(design, context):
    name = next(n.name for n in context.document.graph.nodes.values() if n.kind == "dense")
    press(Qt.Key.Key_F, CTRL)
    type_keys(name)
    assert design.canvas.scene.selected_ids() == of_kind(design, "dense")[:1]
    press(Qt.Key.Key_F, CTRL)  # again: what is typed replaces it
    type_keys("64 filters")
    graph, (found,) = context.document.graph, design.canvas.scene.selected_ids()
    assert graph.nodes[found].params["filters"] == 64


def test_find_says_so_when_nothing_fits_and_changes_nothing(design):
    canvas = design.canvas
    canvas.select(of_kind(design, "flatten"))
    press(Qt.Key.Key_F, CTRL)
    type_keys("xyzzy")
    press(Qt.Key.Key_Return)
    assert canvas.find_bar.count.text() == "no layer"
    assert not canvas.find_bar.next.isEnabled()
    assert canvas.scene.selected_ids() == of_kind(design, "flatten")


def test_the_arrows_and_the_cross_of_the_find_bar(design):
    canvas, bar = design.canvas, design.canvas.find_bar
    drops = of_kind(design, "dropout")
    press(Qt.Key.Key_F, CTRL)
    type_keys("dropout")
    QTest.mouseClick(bar.next, LEFT)
    assert canvas.scene.selected_ids() == [drops[1]]
    QTest.mouseClick(bar.previous, LEFT)
    assert canvas.scene.selected_ids() == [drops[0]]
    QTest.mouseClick(bar.close_button, LEFT)
    assert not bar.isVisible()


def test_the_count_follows_the_network(design, context):
    bar = design.canvas.find_bar
    press(Qt.Key.Key_F, CTRL)
    type_keys("flatten")
    assert bar.count.text() == "1 of 1"
    context.document.add_node("flatten")
    assert bar.count.text().endswith(" of 2")


def test_find_comes_from_another_view_too(cifar, design):
    cifar.show_view("data")
    press(Qt.Key.Key_F, CTRL)
    assert cifar.views.current_key == "design"
    assert design.canvas.find_bar.field.hasFocus()


def test_the_bar_stays_inside_a_narrow_canvas(qtbot, cifar, design):
    press(Qt.Key.Key_F, CTRL)
    cifar.resize(cifar.minimumSize())
    bar, view = design.canvas.find_bar, design.canvas.view
    qtbot.waitUntil(lambda: view.rect().contains(bar.geometry()))


def test_ctrl_k_opens_a_closed_palette_and_types_into_it(design, context):
    palette = design.panels["palette"]
    close(palette)
    before = len(context.document.graph.nodes)
    press(Qt.Key.Key_K, CTRL)
    assert palette.search.isVisible()
    type_keys("conv2d")
    press(Qt.Key.Key_Return)
    assert len(context.document.graph.nodes) == before + 1
    assert palette.search.text() == ""
    assert not palette.list.item(1).isHidden()


@pytest.mark.parametrize("by", ["enter", "double click"])
def test_enter_and_a_double_click_open_a_closed_inspector(design, context, by):
    inspector, (node, *_) = design.panels["inspector"], of_kind(design, "conv2d")
    hand, place = Hand(design.canvas), design.canvas.scene.nodes[node].card_rect().center()
    close(inspector)
    hand.click(place)
    if by == "enter":
        press(Qt.Key.Key_Return)
    else:
        hand.double_click(place)
        hand.release(place)
    assert inspector.isVisible()
    type_keys("99")
    press(Qt.Key.Key_Return)
    assert context.document.graph.nodes[node].params["filters"] == 99


def test_the_search_of_the_palette_has_equal_margins(design):
    palette = design.panels["palette"]
    search = palette.search.geometry()
    assert search.left() == palette.width() - 1 - search.right()


def test_a_floating_panel_has_an_edge(design, context):
    dock = design.panels["palette"].parentWidget()
    dock.setFloating(True)
    QApplication.processEvents()
    image = dock.grab().toImage()
    line = context.theme.colors.line
    for x, y in ((0, 99), (image.width() - 1, 99), (99, 0), (99, image.height() - 1)):
        assert image.pixelColor(x, y).name() == line
    dock.setFloating(False)
