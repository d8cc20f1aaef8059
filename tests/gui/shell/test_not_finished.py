"""While one builds, the window says what comes next; red is for what is wrong."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton

from tests.looks import flaws_of
from workbench.core.projects.project import Project
from workbench.gui.kit.problem_list import ProblemList


@pytest.fixture
def empty(window):
    window.context.document.new(Project())
    window.show_view("design")
    return window


def test_each_step_is_named_and_taken_by_a_click_until_it_can_be_trained(empty, qtbot):
    document, status = empty.context.document, empty.status
    taken = []
    while not document.analysis.is_trainable:
        assert status.problems.property("level") == "warning"
        assert status.problems.text() == "Not finished:"
        assert status.problems.accessibleName().startswith("Not finished: ")
        assert empty.top.train.toolTip().startswith(status.problems.accessibleName())
        assert status.next_step.isVisible()
        step = status.next_step
        qtbot.waitUntil(lambda step=step: step.width() >= step.sizeHint().width())
        assert step.mapTo(empty, step.rect().topRight()).x() < empty.width() - 4
        taken.append(status.next_step.text())
        qtbot.mouseClick(status.next_step, Qt.MouseButton.LeftButton)
    assert taken == ["Add Input", "Add Flatten and a Dense layer with 10 units"]
    assert status.problems.text() == "1 hint"  # the pixel values are not scaled
    assert not status.next_step.isVisible()


@pytest.mark.parametrize("size", [(1024, 720), (1440, 900)])
def test_the_next_step_fits_the_status_line(empty, qtbot, size):
    empty.resize(*size)
    status = empty.status
    step, room = status.next_step, status.rect()
    qtbot.waitUntil(lambda: step.mapTo(status, step.rect().topRight()).x() > room.right() - 40)
    for each in (status.problems, step):
        assert each.width() >= each.sizeHint().width()
        assert room.contains(QRect(each.mapTo(status, QPoint()), each.size()))
    assert [str(flaw) for flaw in flaws_of(empty)] == []


def test_the_train_button_leads_to_what_is_missing(empty, qtbot):
    with qtbot.assertNotEmitted(empty.context.library.run_started):
        qtbot.mouseClick(empty.top.train, Qt.MouseButton.LeftButton)
    assert empty.popup.isVisible()
    (listed,) = empty.popup.findChildren(ProblemList)
    buttons = [each.text() for each in listed.findChildren(QAbstractButton)]
    assert buttons == ["Add Input"]
    empty.popup.close()


def test_what_is_wrong_is_an_error(empty):
    document, status = empty.context.document, empty.status
    for _ in range(2):
        document.apply_fix(document.analysis.errors[0].fixes[0])
    (dense,) = [key for key, node in document.graph.nodes.items() if node.kind == "dense"]
    document.set_params(dense, units=7)
    assert status.problems.property("level") == "error"
    assert status.problems.text() == "1 error"
    assert not status.next_step.isVisible()


def test_hovering_a_problem_in_the_list_marks_its_layers(empty, qtbot):
    empty.resize(1440, 900)  # room beside the layers: no line of a card crosses them
    document = empty.context.document
    for _ in range(2):
        document.apply_fix(document.analysis.errors[0].fixes[0])
    (dense,) = [key for key, node in document.graph.nodes.items() if node.kind == "dense"]
    document.set_params(dense, units=7)
    empty.show_problems()
    problem = document.analysis.errors[0]
    empty.popup.list.problem_hovered.emit(problem)
    scene = empty.design().canvas.scene
    assert [key for key, item in scene.nodes.items() if item.is_marked] == [dense]
    empty.popup.list.problem_hovered.emit(None)
    assert not [key for key, item in scene.nodes.items() if item.is_marked]
    empty.popup.close()
