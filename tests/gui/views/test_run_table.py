"""The table of runs: columns, sorting, the open project's runs first, the queue in its order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest

from workbench.core.projects.project import Project, new_project_id
from workbench.gui.panels import panels_of
from workbench.gui.train.runs.run_model import COLUMNS, SUMMARY_ROLE
from workbench.gui.train.view import TrainView
from workbench.protocol.weights import KeptWeights
from workbench.runs.folder import create_run
from workbench.runs.state.queue import enqueue

FLOWERS = Project(id=new_project_id(), title="flowers")
FASHION = Project(id=new_project_id(), title="fashion")


def changed(project, **values):
    return replace(project, recipe=project.recipe.with_values(**values))


@pytest.fixture
def view(show_view, context):
    return show_view(TrainView(context, panels_of("train")), 1500, 800)


@pytest.fixture
def runs(written, context, open_library):
    """Three runs of flowers, then one of fashion; flowers is open."""
    for rate, epochs in ((0.001, 3), (0.1, 1), (0.01, 2)):
        project = changed(FLOWERS, learning_rate=rate, epochs=epochs)
        written("", project=project, recipe=project.recipe).begin().train(epochs).finish()
    written("", project=FASHION).begin().train(1).finish()
    context.document.restore(FLOWERS)
    open_library()


def labels(panel):
    model = panel.list.model()
    return [model.index(row, 0).data(SUMMARY_ROLE).label for row in range(model.rowCount())]


def click_heading(panel, title):
    header = panel.list.header()
    section = next(i for i, column in enumerate(COLUMNS) if column.title == title)
    middle = header.sectionViewportPosition(section) + header.sectionSize(section) // 2
    QTest.mouseClick(
        header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(middle, header.height() // 2)
    )


def test_the_runs_of_other_projects_are_folded_away(qtbot, view, runs):
    panel = view.panels["train_runs"]
    assert [label.split(" ")[0] for label in labels(panel)] == ["3", "2", "1"]
    assert panel.others.text() == "▸ 1 run of other projects"
    QTest.mouseClick(panel.others, Qt.MouseButton.LeftButton)
    assert len(labels(panel)) == 4
    assert panel.others.text() == "▾ 1 run of other projects"
    QTest.mouseClick(panel.others, Qt.MouseButton.LeftButton)
    panel.filter.setText("project:fashion")  # who looks for words looks everywhere
    assert labels(panel) == ["1 · lr 0.001 · 5 epochs"]


def test_a_project_without_a_run_says_so(view, context, runs):
    context.document.new()
    panel = view.panels["train_runs"]
    assert labels(panel) == []
    assert panel.hint.text() == "This project has no run yet."
    assert panel.others.text() == "▸ 4 runs of other projects"


def test_a_click_on_a_heading_sorts(qtbot, view, runs):
    panel = view.panels["train_runs"]
    QTest.mouseClick(panel.others, Qt.MouseButton.LeftButton)
    assert not panel.list.header().isVisible()
    QTest.mouseClick(panel.table, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(panel.list.header().isVisible)
    numbers = [[label.split(" ")[0] for label in labels(panel)]]
    for _ in range(3):
        click_heading(panel, "Rate")
        numbers.append([label.split(" ")[0] for label in labels(panel)])
    newest, up, down = ["3", "2", "1", "1"], ["1", "3", "2", "1"], ["2", "3", "1", "1"]
    assert numbers == [newest, up, down, newest]  # the other project's stays the last
    row = panel.list.model().index(0, 0)
    cells = [row.siblingAtColumn(i).data() for i in range(1, 7)]
    assert cells == ["Completed", "52.0%", "75.0%", "0.01", "64", "2"]
    QTest.mouseClick(panel.table, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel.list.header().isVisible())


def test_validation_and_test_accuracy_of_a_row_are_of_the_saved_weights(
    qtbot, view, written, context, open_library
):
    run = written("", project=FLOWERS).begin().train(1)
    run.epoch(2, val_accuracy=0.4)  # worse than the first
    run.finish(kept=KeptWeights(epoch=2, val_accuracy=0.4))
    context.document.restore(FLOWERS)
    open_library()
    row = view.panels["train_runs"].list.model().index(0, 0)
    titles = [column.title for column in COLUMNS]
    cells = [row.siblingAtColumn(titles.index(title)) for title in ("Val. acc.", "Test acc.")]
    assert [cell.data() for cell in cells] == ["40.0%", "75.0%"]
    for cell in cells:
        tip = cell.model().headerData(
            cell.column(), Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
        )
        assert "saved weights" in tip


def test_waiting_runs_stand_in_the_order_of_their_turn(qtbot, view, context, runs, written):
    live = written("", project=FLOWERS).begin().train(1)
    for epochs in (20, 30, 40):
        enqueue(create_run(changed(FLOWERS, epochs=epochs)))
    context.library.refresh()
    panel = view.panels["train_runs"]
    qtbot.waitUntil(lambda: len(labels(panel)) == 7)
    words = [label.rsplit(" · ", 1)[1] for label in labels(panel)[:4]]
    assert words == ["20 epochs", "30 epochs", "40 epochs", "5 epochs"]
    live.finish()


def test_the_line_below_a_row_goes_through_all_columns(qtbot, view, context, runs):
    panel = view.panels["train_runs"]
    QTest.mouseClick(panel.table, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not panel.list.isColumnHidden(len(COLUMNS) - 1))
    shot = panel.list.viewport().grab().toImage()
    line = QColor(context.theme.colors.line)
    for column in range(4):
        cell = panel.list.visualRect(panel.list.model().index(1, column))
        assert shot.pixelColor(cell.center().x(), cell.bottom()) == line
