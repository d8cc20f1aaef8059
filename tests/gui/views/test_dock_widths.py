"""Side panels after the window was small: as wide as they were made, by the program or the user."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QByteArray, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDockWidget

from workbench.gui.panels import panels_of
from workbench.gui.train.runs.run_list import LIST_PX
from workbench.gui.train.view import TrainView

LARGE, SMALL = (1424, 760), (900, 560)
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def make(qtbot, context):
    made = []

    def make_view():
        view = TrainView(context, panels_of("train"))
        view.resize(*LARGE)
        qtbot.addWidget(view)
        with qtbot.waitExposed(view):
            view.show()
        made.append(view)
        return view

    yield make_view
    for view in made:
        view.close_background()


def runs_dock(view):
    return view.findChild(QDockWidget, "train_runs")


def squeezed(qtbot, view):
    view.resize(*SMALL)
    qtbot.waitUntil(lambda: runs_dock(view).width() < LIST_PX)


def test_panels_are_as_wide_as_before_once_a_small_window_grows(qtbot, make):
    view = make()
    widths = {dock.objectName(): dock.width() for dock in view.findChildren(QDockWidget)}
    assert widths["train_runs"] == LIST_PX
    squeezed(qtbot, view)
    view.resize(*LARGE)
    qtbot.waitUntil(
        lambda: (
            {dock.objectName(): dock.width() for dock in view.findChildren(QDockWidget)} == widths
        )
    )


def test_panels_of_a_small_window_are_not_narrow_in_the_large_one_of_the_next_start(qtbot, make):
    view = make()
    squeezed(qtbot, view)
    saved = QByteArray(view.panels.save())
    again = make()
    again.panels.restore(saved)
    qtbot.waitUntil(lambda: runs_dock(again).width() == LIST_PX)


def test_a_width_that_was_dragged_is_kept(qtbot, make):
    view = make()
    edge = QPoint(runs_dock(view).geometry().right() + 2, 300)
    QTest.mousePress(view, LEFT, pos=edge)
    for step in (20, 40, 60):
        QTest.mouseMove(view, edge + QPoint(step, 0))
        qtbot.wait(5)  # Qt moves the line in its own time
    QTest.mouseRelease(view, LEFT, pos=edge + QPoint(60, 0))
    qtbot.waitUntil(lambda: runs_dock(view).property("width_px") != LIST_PX)
    dragged = runs_dock(view).width()
    assert dragged > LIST_PX + 30
    squeezed(qtbot, view)
    view.resize(*LARGE)
    qtbot.waitUntil(lambda: runs_dock(view).width() == dragged)
    again = make()
    again.panels.restore(view.panels.save())
    qtbot.waitUntil(lambda: runs_dock(again).width() == dragged)
