"""Classes over the epochs, the confusion matrix by key, and what the finders measured."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from workbench.core.evaluation.confusion import Confusion
from workbench.core.projects.project import Project
from workbench.gui.common.confusion_matrix import ConfusionMatrix
from workbench.gui.kit.theme import Theme
from workbench.gui.plots.sweep_plot import (
    BatchSizePlot,
    BatchSizePoint,
    LearningRatePlot,
    TrialPlot,
    TrialPoint,
)
from workbench.gui.train.plots.legend import OVERLAY_COLORS
from workbench.gui.train.run_pages import NOTHING_YET, ClassPanel
from workbench.runs.folder import create_run
from workbench.runs.log.confusion_history import append_confusion


@pytest.fixture
def theme(qapp):
    return Theme("light")


@pytest.fixture
def panel(qtbot, theme):
    panel = ClassPanel(theme)
    panel.resize(900, 320)
    qtbot.addWidget(panel)
    with qtbot.waitExposed(panel):
        panel.show()
    yield panel
    panel.close_background()


@pytest.fixture
def run(tmp_path):
    return create_run(Project(), home=tmp_path)


def matrix(right, classes=3):
    """Ten pictures a class; class i is predicted right `right - i` times, else as the next one."""
    counts = np.zeros((classes, classes), np.uint32)
    for index in range(classes):
        hits = min(10, max(0, right - index))
        counts[index, index] = hits
        counts[index, (index + 1) % classes] += 10 - hits
    return counts


def texts(panel):
    return [panel.marks.item(row).text() for row in range(panel.marks.count())]


def test_an_empty_place_says_what_comes(panel, run):
    panel.set_run(run, ["a", "b", "c"])
    assert panel.empty.isVisible()
    assert panel.empty.text() == NOTHING_YET


def test_it_asks_for_little_more_height_than_its_list_of_classes(qtbot, panel, run):
    """The page of a run scrolls where its parts would like to be higher than the window."""
    append_confusion(run, 1, matrix(10))
    panel.set_run(run, ["cat", "dog", "owl"])
    qtbot.waitUntil(panel.map.isVisible)
    assert panel.sizeHint().height() < panel.marks.sizeHint().height() + 80


def test_the_last_epoch_is_shown_and_followed(qtbot, panel, run):
    append_confusion(run, 1, matrix(4))
    append_confusion(run, 2, matrix(7))
    panel.set_run(run, ["cat", "dog", "owl"])
    qtbot.waitUntil(lambda: panel.map._counts.tolist() == matrix(7).tolist())
    assert panel.epoch == 2
    assert texts(panel) == ["70.0%  cat", "60.0%  dog", "50.0%  owl"]
    assert [line.getData()[1].tolist() for line in panel.plot.lines] == [
        [0.4, 0.7], [0.3, 0.6], [0.2, 0.5],
    ]  # fmt: skip
    append_confusion(run, 3, matrix(9))
    panel.grow()
    qtbot.waitUntil(lambda: panel.map._counts.tolist() == matrix(9).tolist())
    assert panel.epoch_words.text() == "Epoch 3 of 3"


def test_a_chosen_epoch_stays_chosen(qtbot, panel, run):
    for number in (1, 2, 3):
        append_confusion(run, number, matrix(3 + number))
    panel.set_run(run, [])
    qtbot.waitUntil(lambda: panel.epoch == 3)
    panel.slider.setFocus()
    qtbot.keyClick(panel.slider, Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: panel.map._counts.tolist() == matrix(5).tolist())
    append_confusion(run, 4, matrix(9))
    panel.grow()
    qtbot.waitUntil(lambda: panel.slider.maximum() == 4)
    assert panel.epoch == 2
    assert texts(panel)[0] == "50.0%  class 0"
    panel.plot.epoch_clicked.emit(1)
    qtbot.waitUntil(lambda: panel.map._counts.tolist() == matrix(4).tolist())


def test_with_many_classes_the_worst_are_marked_and_others_can_be(qtbot, panel, run):
    append_confusion(run, 1, matrix(30, classes=30))
    panel.set_run(run, [f"c{i}" for i in range(30)])
    qtbot.waitUntil(lambda: panel.marks.count() == 30)
    marked = [i for i in range(30) if panel.marks.item(i).checkState() == Qt.CheckState.Checked]
    assert marked == [25, 26, 27, 28, 29]
    panel.marks.item(3).setCheckState(Qt.CheckState.Checked)
    assert panel.plot.lines[3].opts["pen"].color().name() in OVERLAY_COLORS
    panel.marks.item(29).setCheckState(Qt.CheckState.Unchecked)
    assert panel.plot.lines[29].opts["pen"].color().name() not in OVERLAY_COLORS


def test_another_run_forgets_the_one_before(qtbot, panel, run, tmp_path):
    append_confusion(run, 1, matrix(4))
    panel.set_run(run, ["a", "b", "c"])
    qtbot.waitUntil(lambda: panel.marks.count() == 3)
    panel.set_run(create_run(Project(), home=tmp_path / "other"), [])
    assert panel.empty.isVisible()
    panel.set_run(None, [])
    assert panel.empty.isVisible()


# the matrix by key -----------------------------------------------------------------------


@pytest.fixture
def confusion(qtbot, theme):
    widget = ConfusionMatrix(theme)
    widget.resize(300, 300)
    widget.set_matrix(["a", "b", "c"], Confusion.of_dense(matrix(7)))
    qtbot.addWidget(widget)
    widget.show()
    return widget


def test_arrow_keys_go_from_square_to_square_and_say_what_is_there(qtbot, confusion):
    said = []
    confusion.hovered.connect(said.append)
    keys = Qt.Key
    for key in (keys.Key_Right, keys.Key_Right, keys.Key_Down, keys.Key_Left, keys.Key_Up):
        qtbot.keyClick(confusion, key)
    assert said[-1] == confusion.accessibleDescription() == confusion.words(0, 0)
    qtbot.keyClick(confusion, keys.Key_Up)
    qtbot.keyClick(confusion, keys.Key_End)
    assert confusion.cell == (0, 2)
    qtbot.keyClick(confusion, keys.Key_Down)
    assert confusion.cell == (1, 2)
    assert "Actual b, predicted c: 4 of 10 (40%)" in confusion.accessibleDescription()
    qtbot.keyClick(confusion, keys.Key_Home)
    assert confusion.cell == (1, 0)


def test_another_epoch_keeps_the_square(qtbot, confusion):
    qtbot.keyClick(confusion, Qt.Key.Key_Down)
    confusion.set_matrix(["a", "b", "c"], Confusion.of_dense(matrix(9)))
    assert confusion.accessibleDescription() == confusion.words(0, 0)
    confusion.set_matrix([], Confusion.of_dense(np.zeros((0, 0), np.int64)))
    assert confusion.cell is None


def test_hundreds_of_classes_are_painted_in_their_places(qtbot, confusion):
    counts = np.zeros((256, 256), int)
    counts[10, 200] = 5
    confusion.set_matrix([f"{i}" for i in range(256)], Confusion.of_dense(counts))
    confusion.resize(600, 600)
    image = confusion.grab().toImage()
    at = confusion.cell_rect(10, 200).center().toPoint()
    empty = confusion.cell_rect(200, 10).center().toPoint()
    assert image.pixelColor(at).name() == Theme("light").colors.bad
    assert image.pixelColor(empty).name() == Theme("light").colors.field
    assert confusion.cell_at(QPointF(at)) == (10, 200)


# finders ---------------------------------------------------------------------------------


def test_the_losses_of_the_rising_rate_are_drawn_and_the_suggestion_is_marked(qtbot, theme):
    plot = LearningRatePlot(theme, 1e-7, 10.0)
    qtbot.addWidget(plot)
    plot.show()
    rates = np.geomspace(1e-5, 1.0, 51)
    losses = [2.0 - 0.01 * i for i in range(45)] + [50.0] * 5 + [None]
    plot.set_result(rates[:9].tolist(), losses[:9], None)
    ends = plot.x_range()
    plot.set_result(rates.tolist(), losses, None)
    assert plot.x_range() == ends == pytest.approx((-7.0, 1.0)), "the axis stays"
    assert not plot._line.isVisible()
    plot.set_result(rates.tolist(), losses, 0.01)
    x, y = plot.raw.getData()
    np.testing.assert_allclose(x, np.log10(rates))
    assert y[:45].tolist() == losses[:45]
    assert np.isnan(y[50])
    assert plot._line.value() == pytest.approx(-2.0)
    assert plot.box.viewRange()[1][1] < 5.0
    plot.hovered.emit(-5.0)
    assert plot.toolTip() == "learning rate 1e-05: loss 2.0000"
    plot.hovered.emit(0.0)
    assert plot.toolTip().endswith("NaN")
    plot.set_result([], [], None)
    plot.grab()


def test_short_trainings_are_points_and_the_decisive_ones_a_line_of_their_own(qtbot, theme):
    plot = TrialPlot(theme)
    qtbot.addWidget(plot)
    plot.show()
    short = [TrialPoint(0.01, 60, 0.7), TrialPoint(0.001, 60, 0.6), TrialPoint(0.1, 60, None)]
    plot.set_points(short)
    assert plot.short.getData()[0].tolist() == pytest.approx([-3.0, -2.0, -1.0])
    assert plot.long.getData()[0] is None or not len(plot.long.getData()[0])
    long = [TrialPoint(0.001, 150, 0.80), TrialPoint(0.01, 150, 0.85)]
    plot.set_points([*short, *long], 0.01, [0.001, 0.01])
    assert plot.long.getData()[1].tolist() == [0.80, 0.85]
    assert plot.strip.words == "suggested: 0.01"
    assert plot.band.isVisible()
    low, high = plot.band.getRegion()
    assert low < -3.0
    assert high > -2.0
    plot.hovered.emit(-2.2)
    assert plot.toolTip() == "learning rate 0.01: 85.0% accuracy after 150 steps"
    plot.hovered.emit(-1.0)
    assert plot.toolTip() == "learning rate 0.1: diverged after 60 steps"
    assert "learning rate 0.01: 85.0%" in plot.accessibleDescription()
    plot.set_points([])
    assert not plot.band.isVisible()
    plot.grab()


def test_bars_that_will_come_have_their_room_from_the_start(qtbot, theme):
    plot = BatchSizePlot(theme, [8, 64, 4096])
    qtbot.addWidget(plot)
    height = plot.sizeHint().height()
    points = []
    for size in (8, 64, 4096):
        points.append(BatchSizePoint(size, 1000.0 + size))
        plot.set_result(points, None)
        assert plot.sizeHint().height() == height
    plot.set_result([*points, BatchSizePoint(8192, 1.0)], None)
    assert plot.sizeHint().height() > height


def test_batch_sizes_are_bars_with_words(qtbot, theme):
    plot = BatchSizePlot(theme)
    qtbot.addWidget(plot)
    points = [
        BatchSizePoint(64, 1500.4, 500_000_000),
        BatchSizePoint(1024, None, problem="needs 4 GB"),
    ]
    plot.set_result(points, 64)
    plot.resize(400, plot.sizeHint().height())
    image = plot.grab().toImage()
    assert plot.accessibleDescription() == (
        "batch 64: 1,500 images/s, 500 MB (chosen); batch 1,024: needs 4 GB"
    )
    assert image.pixelColor(60, 11).name() == theme.colors.accent
