"""Several selected layers are edited at once."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from tests.gui.combos import shown_text
from tests.gui.design.hand import Hand, chain
from workbench.core.projects.project import Project

SHIFT = Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def design(qtbot, window):
    document = window.context.document
    kinds = ("input", "conv2d", "conv2d", "conv2d", "flatten", "dense", "dense")
    document.new(Project(graph=chain(window.context.layers, *kinds)))
    document.set_params("n2", filters=16)
    document.set_params("n3", filters=64, activation="relu", use_bias=False)
    document.undo_stack.clear()
    view = window.show_view("design")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return view


@pytest.fixture
def inspector(design):
    return design.panels["inspector"]


@pytest.fixture
def values(context):
    def of(key, *nodes):
        return [context.document.graph.nodes[node].params[key] for node in nodes]

    return of


def select(design, *nodes):
    """Clicks a layer, then others with Shift."""
    hand, scene = Hand(design.canvas), design.canvas.scene
    for number, node in enumerate(nodes):
        modifiers = SHIFT if number else Qt.KeyboardModifier.NoModifier
        hand.click(scene.nodes[node].card_rect().center(), modifiers=modifiers)
    assert set(scene.selected_ids()) == set(nodes)


def press(key, modifiers=Qt.KeyboardModifier.NoModifier):
    QTest.keyClick(QApplication.focusWidget(), key, modifiers)


def type_keys(text):
    QTest.keyClicks(QApplication.focusWidget(), text)


def test_one_kind_shows_all_its_settings_and_mixed_values_as_such(design, inspector):
    select(design, "n2", "n3", "n4")
    assert inspector.heading.text() == "3 Conv2D layers"
    filters = inspector.form.editor_widget("filters")
    assert (filters.text(), filters.lineEdit().placeholderText()) == ("", "mixed")
    activation = inspector.form.editor_widget("activation")
    assert (activation.currentIndex(), activation.placeholderText()) == (-1, "mixed")
    assert inspector.form.editor_widget("kernel_size").text() == "3 × 3"
    bias = inspector.form.editor_widget("use_bias")
    assert bias.checkState() == Qt.CheckState.PartiallyChecked


def test_enter_types_into_all_of_them_as_one_step(design, inspector, values, context):
    select(design, "n2", "n3", "n4")
    design.canvas.view.setFocus()
    press(Qt.Key.Key_Return)
    type_keys("8*3")
    press(Qt.Key.Key_Return)
    assert values("filters", "n2", "n3", "n4") == [24, 24, 24]
    assert inspector.form.editor_widget("filters").text() == "24"
    assert context.document.undo_stack.undoText() == "Change filters of 3 layers"
    context.document.undo_stack.undo()
    assert values("filters", "n2", "n3", "n4") == [16, 64, 32]
    assert inspector.form.editor_widget("filters").text() == ""


def test_passing_through_mixed_fields_changes_nothing(design, inspector, context):
    select(design, "n2", "n3")
    design.canvas.view.setFocus()
    press(Qt.Key.Key_Return)
    for _ in range(8):
        press(Qt.Key.Key_Tab)
    assert context.document.undo_stack.index() == 0


def test_a_value_that_the_first_one_has_already_is_set_for_the_others_too(
    design, inspector, values, qtbot
):
    select(design, "n2", "n3")
    filters = inspector.form.editor_widget("filters")
    qtbot.keyClicks(filters, "16")
    qtbot.keyClick(filters, Qt.Key.Key_Return)
    assert values("filters", "n2", "n3") == [16, 16]


def test_a_refused_value_changes_none_of_them(design, inspector, values, qtbot):
    select(design, "n2", "n3")
    filters = inspector.form.editor_widget("filters")
    qtbot.keyClicks(filters, "3.5")
    qtbot.keyClick(filters, Qt.Key.Key_Return)
    assert values("filters", "n2", "n3") == [16, 64]
    assert filters.property("bad")
    qtbot.keyClick(filters, Qt.Key.Key_Escape)
    assert (filters.text(), bool(filters.property("bad"))) == ("", False)


def test_a_mixed_box_is_checked_for_all_by_the_first_click(design, inspector, values, qtbot):
    select(design, "n2", "n3")
    bias = inspector.form.editor_widget("use_bias")
    qtbot.mouseClick(inspector.form.findChild(QToolButton), LEFT)
    qtbot.waitUntil(bias.isVisible)
    qtbot.keyClick(bias, Qt.Key.Key_Space)
    assert values("use_bias", "n2", "n3") == [True, True]
    qtbot.mouseClick(bias, LEFT, pos=QPoint(8, bias.height() // 2))
    assert values("use_bias", "n2", "n3") == [False, False]


def test_a_mixed_choice_is_chosen_for_all(design, inspector, values, qtbot):
    select(design, "n2", "n3")
    box = inspector.form.editor_widget("activation")
    box.setFocus()
    qtbot.keyClicks(box, "tanh")
    assert values("activation", "n2", "n3") == ["tanh", "tanh"]


def test_different_kinds_show_what_they_share(design, inspector, values, qtbot):
    select(design, "n3", "n6")
    assert inspector.heading.text() == "2 layers selected"
    assert set(inspector.form._params) >= {"activation", "use_bias"}
    assert not set(inspector.form._params) & {"filters", "units", "kernel_size"}
    box = inspector.form.editor_widget("activation")
    box.setFocus()
    qtbot.keyClicks(box, "elu")
    assert values("activation", "n3", "n6") == ["elu", "elu"]
    select(design, "n3", "n5")
    assert inspector.form is None


def test_one_of_several_selected_again_shows_its_own_values(design, inspector):
    select(design, "n2", "n3")
    select(design, "n3")
    assert inspector.heading.text() == "Conv2D"
    assert inspector.form.editor_widget("filters").text() == "64"
    assert shown_text(inspector.form.editor_widget("activation")) == "relu"
