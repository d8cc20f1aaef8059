"""Enter or a double click on a layer, then typing: what hands expect of fields."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.gui.design.hand import Hand, chain
from workbench.core.projects.project import Project


@pytest.fixture
def design(qtbot, window):
    document = window.context.document
    kinds = ("input", "conv2d", "average_pooling2d", "conv2d", "flatten", "dense", "softmax")
    document.new(Project(graph=chain(window.context.layers, *kinds)))
    document.set_params("n6", units=10)  # no card of a problem lies over the layers
    view = window.show_view("design")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    view.canvas.view.setFocus()
    return view


@pytest.fixture
def params(context):
    return lambda node: context.document.graph.nodes[node].params


def middle(design, node):
    return design.canvas.scene.nodes[node].card_rect().center()


def type_keys(text):
    """Types into whatever has the keyboard, as hands do."""
    QTest.keyClicks(QApplication.focusWidget(), text)


def press(key, modifiers=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(QApplication.focusWidget(), key, modifiers)


def test_enter_on_a_layer_and_typing_replaces_its_first_value(design, params):
    Hand(design.canvas).click(middle(design, "n2"))
    press(Qt.Key.Key_Return)
    type_keys("99")
    press(Qt.Key.Key_Return)
    assert params("n2")["filters"] == 99


def test_a_double_click_on_a_layer_and_typing_replaces_its_first_value(design, params):
    hand = Hand(design.canvas)
    hand.click(middle(design, "n2"))
    hand.double_click(middle(design, "n2"))
    hand.release(middle(design, "n2"))
    type_keys("99")
    press(Qt.Key.Key_Tab)
    assert params("n2")["filters"] == 99
    hand.click(middle(design, "n3"))
    hand.double_click(middle(design, "n3"))
    hand.release(middle(design, "n3"))
    type_keys("4x3")
    press(Qt.Key.Key_Return)
    assert params("n3")["pool_size"] == (4, 3)


def test_a_size_that_is_typed_after_enter_is_never_spliced_into_the_old_one(design, params):
    Hand(design.canvas).click(middle(design, "n3"))
    press(Qt.Key.Key_Return)
    type_keys("48")
    press(Qt.Key.Key_Return)
    assert params("n3")["pool_size"] == (48, 48)
    type_keys("2")
    press(Qt.Key.Key_Return)
    assert params("n3")["pool_size"] == (2, 2)


def test_enter_on_a_layer_without_settings_replaces_its_name(design, context):
    Hand(design.canvas).click(middle(design, "n5"))
    press(Qt.Key.Key_Return)
    type_keys("flat")
    press(Qt.Key.Key_Return)
    assert context.document.graph.nodes["n5"].name == "flat"


@pytest.mark.parametrize("text", ["3.5", "-5", "99999999999", "0"])
def test_a_wrong_number_is_explained_and_the_layer_keeps_its_own(design, params, text):
    Hand(design.canvas).click(middle(design, "n2"))
    press(Qt.Key.Key_Return)
    type_keys(text)
    press(Qt.Key.Key_Return)
    form = design.panels["inspector"].form
    assert params("n2")["filters"] == 32
    assert form.editor_widget("filters").text() == "32"
    words = f"“{text}” was not accepted. Enter a whole number from 1 to 16,384."
    assert form._errors["filters"].text() == words
    press(Qt.Key.Key_Escape)
    assert form.editor_widget("filters").text() == "32"
