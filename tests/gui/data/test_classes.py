"""Classes renamed, merged and left out in the data view: in the project, never in the files."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from workbench.core.network.roles import find_outputs
from workbench.core.projects.project import Choice
from workbench.gui.data.classes import (
    ClassesBox,
    ClassLine,
    ClassRow,
    LeftOutLine,
    num_classes,
    own_names,
    renamed,
    restored,
)
from workbench.gui.data.network import backbones_of
from workbench.pictures.png import write_png

pytestmark = pytest.mark.worker

NAMES = ("ash", "beech", "birch", "oak")
WAIT_MS = 60_000
OWN = ("a", "b", "c")


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "trees"
    for label, name in enumerate(NAMES):
        (root / name).mkdir(parents=True)
        for number in range(5):
            pixels = np.full((80, 80, 3), 20 * label + number, np.uint8)
            write_png(root / name / f"{number}.png", pixels)
    return root


@pytest.fixture
def view(window, context, folder, qtbot):
    window.resize(1200, 800)
    window.start.from_folder(str(folder))
    qtbot.waitUntil(lambda: window.views.current_key == "data", timeout=WAIT_MS)
    view = window.views.currentWidget()
    qtbot.waitUntil(lambda: names(view) == list(NAMES), timeout=WAIT_MS)
    return view


def rows(view):
    box = view.findChild(ClassesBox)
    return box.rows if box is not None else []


def names(view):
    return [row.description.name for row in rows(view)]


def units(window):
    document = window.context.document
    (output,) = find_outputs(document.graph, document.layers)
    return document.graph.nodes[output].params["units"]


def type_name(row, name):
    QTest.mouseDClick(row, Qt.MouseButton.LeftButton, pos=QPoint(20, row.height() // 2))
    field = row.findChild(QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, name)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_a_double_click_renames_a_class(view, window, qtbot):
    type_name(rows(view)[2], "silver birch")
    assert window.context.document.project.edits.classes == {"birch": "silver birch"}
    qtbot.waitUntil(lambda: "silver birch" in names(view), timeout=WAIT_MS)
    window.context.document.undo_stack.undo()
    qtbot.waitUntil(lambda: names(view) == list(NAMES), timeout=WAIT_MS)


def test_a_name_that_another_class_has_merges_them_and_the_network_follows(view, window, qtbot):
    assert units(window) == 4
    type_name(rows(view)[0], "oak")
    assert window.context.document.project.edits.classes == {"ash": "oak"}
    assert units(window) == 3
    qtbot.waitUntil(lambda: len(names(view)) == 3, timeout=WAIT_MS)
    assert not window.context.document.analysis.errors
    window.context.document.undo_stack.undo()
    assert units(window) == 4
    assert not window.context.document.project.edits.classes


def test_selected_classes_are_merged_by_the_button(view, window, qtbot):
    box = view.findChild(ClassesBox)
    assert not box.merge.isEnabled()
    for row in rows(view)[1:3]:
        place = QPoint(200, row.height() // 2)
        QTest.mouseClick(row, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, place)
    assert box.selected() == ["beech", "birch"]
    box.merge.menu().aboutToShow.emit()
    actions = box.merge.menu().actions()
    assert [action.text() for action in actions] == ["Into “beech”", "Into “birch”"]
    actions[1].trigger()
    assert window.context.document.project.edits.classes == {"beech": "birch"}
    qtbot.waitUntil(lambda: names(view) == ["ash", "birch", "oak"], timeout=WAIT_MS)
    assert rows(view)[1].description.num_train + rows(view)[1].description.num_test == 10


def test_a_class_is_left_out_and_used_again(view, window, qtbot, folder):
    line = view.findChildren(ClassLine)[1]
    line.used.click()
    qtbot.waitUntil(lambda: names(view) == ["ash", "birch", "oak"], timeout=WAIT_MS)
    assert units(window) == 3
    (left_out,) = view.findChildren(LeftOutLine)
    left_out.used.click()
    assert not window.context.document.project.edits.classes
    qtbot.waitUntil(lambda: names(view) == list(NAMES), timeout=WAIT_MS)
    assert units(window) == 4
    assert len(list((folder / "beech").iterdir())) == 5


def test_two_classes_are_kept(view, window, qtbot):
    for left in (3, 2):
        view.findChildren(ClassLine)[0].used.click()
        qtbot.waitUntil(lambda left=left: len(names(view)) == left, timeout=WAIT_MS)
    before = window.context.document.project
    line = view.findChildren(ClassLine)[0]
    line.used.click()
    assert window.context.document.project == before
    assert line.used.isChecked()
    assert view.findChild(ClassesBox).hint.text() == "At least two classes are needed."


def test_reset_takes_the_classes_as_they_are_in_the_data_set(view, window, qtbot):
    type_name(rows(view)[0], "rowan")
    qtbot.waitUntil(lambda: "rowan" in names(view), timeout=WAIT_MS)
    box = view.findChild(ClassesBox)
    assert box.reset.isVisible()
    box.reset.click()
    assert not window.context.document.project.edits.classes
    qtbot.waitUntil(lambda: names(view) == list(NAMES), timeout=WAIT_MS)


def test_escape_gives_a_name_up(view, window):
    row = rows(view)[0]
    QTest.keyClick(row, Qt.Key.Key_F2)
    field = row.findChild(QLineEdit)
    QTest.keyClicks(field, "something")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert not window.context.document.undo_stack.canUndo()


def test_the_way_back_from_scratch_has_the_edited_classes(view, window, qtbot):
    type_name(rows(view)[0], "oak")
    qtbot.waitUntil(lambda: len(names(view)) == 3, timeout=WAIT_MS)
    view.panels["data_network"].other.click()
    document = window.context.document
    qtbot.waitUntil(lambda: not backbones_of(document.graph), timeout=WAIT_MS)
    assert units(window) == 3


def test_a_last_layer_of_another_width_is_a_problem_and_stays(view, window, qtbot):
    document = window.context.document
    (output,) = find_outputs(document.graph, document.layers)
    document.set_params(output, units=7)
    type_name(rows(view)[0], "oak")
    assert units(window) == 7
    qtbot.waitUntil(lambda: len(names(view)) == 3, timeout=WAIT_MS)
    assert document.analysis.errors


def test_another_data_set_has_its_own_page(view, window):
    assert view.findChildren(ClassRow)
    window.context.document.set_dataset(Choice("npz", {"path": "/nowhere.npz"}))
    assert not [row for row in view.findChildren(ClassRow) if row.isVisible()]


@pytest.mark.parametrize(
    ("classes", "names", "name", "wanted"),
    [
        ({}, ["a"], "x", {"a": "x"}),
        ({"a": "x"}, ["x"], "a", {}),
        ({"a": "x", "b": "x"}, ["x"], "y", {"a": "y", "b": "y"}),
        ({}, ["a", "b"], "", {"a": "", "b": ""}),
        ({"a": ""}, ["b"], "c", {"a": "", "b": "c"}),
        ({"gone": "x"}, ["a"], "b", {"gone": "x", "a": "b"}),
    ],
)
def test_changes_are_as_short_as_they_can_be(classes, names, name, wanted):
    assert renamed(OWN, classes, names, name) == wanted


def test_left_out_classes_come_back_with_their_own_names():
    classes = renamed(OWN, {"a": "x"}, ["x"], "")
    assert num_classes(OWN, classes) == 2
    assert restored(OWN, classes, "a") == {}
    assert own_names(OWN, {"a": "c"}, "c") == ["a", "c"]
