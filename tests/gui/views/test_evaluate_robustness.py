"""Robustness in the evaluate view: what is kept with a run, measuring it, and the project's tests."""

from __future__ import annotations

import csv

import msgspec
import pytest
from PySide6.QtGui import Qt

from tests.gui.views.scripted import table_texts
from workbench.core.projects.project import RobustnessTest
from workbench.gui.evaluate.robustness import NO_SUITE, NO_TESTS, NOT_YET, STALE
from workbench.protocol.bases import ErrorParts
from workbench.protocol.messages import Failed, Progress
from workbench.protocol.trained.robustness import AlteredAccuracy, MeasureRobustness, Robustness
from workbench.protocol.weights import KeptWeights
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.evaluation import ROBUSTNESS_NAME, keep_robustness, read_robustness

SOFT = RobustnessTest("Soft", {"blur": 4.0, "jpeg": 20.0})


def measured(strengths, level, accuracy):
    return AlteredAccuracy(test="Soft", strengths=strengths, level=level, accuracy=accuracy)


RESULT = Robustness(
    id=1,
    accuracy=0.9,
    count=50,
    total=200,
    measured=[
        measured({"blur": 2.0}, 0.5, 0.8),
        measured({"blur": 4.0}, 1.0, 0.5),
        measured({"jpeg": 60.0}, 0.5, 0.9),
        measured({"jpeg": 20.0}, 1.0, 0.88),
        measured({"blur": 2.0, "jpeg": 60.0}, 0.5, 0.78),
        measured({"blur": 4.0, "jpeg": 20.0}, 1.0, 0.45),
    ],
    weights=KeptWeights(epoch=40),
)


@pytest.fixture
def run(model):
    made = model("cifar")
    run = RunFolder(made if hasattr(made, "joinpath") else made.path)
    shape = {"input_shape": [8, 8, 3], "fit": "crop", "graph": {}}
    write_card(run.path, ModelCard(class_names=["cat", "dog"], checksum="now", **shape))
    return run


@pytest.fixture
def keep_tests(context):
    """Gives the open project robustness tests."""
    return lambda *tests: context.document.set_robustness(tests, "Save")


@pytest.fixture
def open_view(qtbot, show_evaluate, run, service, measurer):
    def make():
        view = show_evaluate(service=service, measurer=measurer)
        view.state.choose(run.path, "cifar")
        qtbot.waitUntil(lambda: view.state.known is not None and not view.state.background.is_busy)
        return view.panels["evaluate_robustness"]

    return make


def texts(panel):
    return table_texts(panel.table)


def test_without_a_test_it_says_where_one_is_made(open_view):
    panel = open_view()
    panel.switch.chosen.emit("tests")
    assert panel.status.text() == NO_TESTS
    assert not panel.start.isEnabled()


def place_of(widget, panel):
    """Its line in the column of a panel, from 0."""
    items = [panel.column.itemAt(at) for at in range(panel.column.count())]
    found = [
        at
        for at, item in enumerate(items)
        if item.widget() is widget or (item.layout() and item.layout().indexOf(widget) >= 0)
    ]
    return found[0]


def test_the_button_that_measures_is_below_the_words_about_it(open_view):
    """Not at the end of a panel that a low window scrolls to; that of the map as well."""
    panel = open_view()
    assert place_of(panel.start, panel) == place_of(panel.status, panel) + 1
    assert place_of(panel.start, panel) < place_of(panel._pages, panel)
    assert "Measure does so" in NO_SUITE
    other = panel.window().panels["evaluate_map"]
    assert place_of(other.start, other) == place_of(other.status, other) + 1
    assert place_of(other._hint, other) < place_of(other.start, other)
    assert place_of(other.start, other) < place_of(other._pages, other)


def test_a_button_leads_to_where_a_test_is_made(open_view, qtbot, keep_tests):
    panel = open_view()
    panel.switch.chosen.emit("tests")
    with qtbot.waitSignal(panel._state.what_if_wanted):
        panel.what_if.click()
    keep_tests(SOFT)
    assert panel.what_if.isHidden()
    assert not panel.tests.isHidden()


def test_the_ready_suite_is_measured_without_any_test(open_view, run, measurer, keep_tests):
    keep_tests(SOFT)
    panel = open_view()
    assert panel.kind == "tests"
    panel.switch.chosen.emit("suite")
    assert (panel.status.text(), panel.tests.isHidden()) == (NO_SUITE, True)
    panel.start.click()
    request, answer = measurer.take(MeasureRobustness)
    assert request.is_suite
    levels = (0.2, 0.4, 0.6, 0.8, 1.0)
    cases = [
        AlteredAccuracy(test="Blur 8%", strengths={"blur": 8 * x}, level=x, accuracy=0.9 - x / 2)
        for x in levels
    ]
    answer(msgspec.structs.replace(RESULT, measured=cases, mean_accuracy=0.6))
    assert texts(panel) == [["Blur 8%", "60.0%", "40.0%", "50.0"]]
    assert len(panel._lines[0].points) == 6
    assert "mean corruption accuracy 60.0%" in panel.subject.text()
    panel.switch.chosen.emit("tests")
    assert panel.status.text() == NOT_YET


def test_what_was_kept_of_the_suite_is_shown(open_view, run):
    keep_robustness(run, msgspec.structs.replace(RESULT, mean_accuracy=0.75), "now")
    panel = open_view()
    assert panel.kind == "suite"
    assert "mean corruption accuracy 75.0%" in panel.subject.text()
    assert read_robustness(run) is None


def test_what_was_kept_is_shown(open_view, run, keep_tests):
    keep_robustness(run, RESULT, "now")
    keep_tests(SOFT)
    panel = open_view()
    assert texts(panel) == [
        ["Blur 4%", "65.0%", "50.0%", "40.0"],
        ["JPEG quality 20", "89.0%", "88.0%", "2.0"],
        ["Blur 4%, JPEG quality 20", "61.5%", "45.0%", "45.0"],
    ]
    assert panel.subject.text().startswith("50 of 200 test images · unaltered 90.0% · weights: ")
    assert panel.plot.chosen == 2
    assert panel.status.isHidden()
    panel.table.clicked.emit(panel.table.model().index(0, 0))
    assert panel.plot.chosen == 0


def test_weights_that_have_changed_are_named(open_view, run):
    keep_robustness(run, RESULT, "before")
    assert open_view().status.text() == STALE


def test_tests_that_were_not_measured_are_named(open_view, run, keep_tests):
    keep_robustness(run, RESULT, "now")
    keep_tests(SOFT, RobustnessTest("Dark", {"brightness": -50.0}))
    words = open_view().status.text()
    assert "“Dark”" in words
    assert "“Soft”" not in words


def test_a_damaged_file_is_reported(open_view, run):
    (run.path / ROBUSTNESS_NAME).write_text("{")
    assert "damaged" in open_view().status.text()


def test_the_run_is_measured_on_the_tests_of_the_project(open_view, run, keep_tests, measurer):
    keep_tests(SOFT)
    panel = open_view()
    assert panel.status.text() == NOT_YET
    panel.start.click()
    request, answer = measurer.take(MeasureRobustness)
    assert request.model == str(run.path)
    assert [(test.name, test.strengths) for test in request.tests] == [("Soft", SOFT.strengths)]
    answer(Progress(id=1, text="Measuring", fraction=0.5))
    assert panel.status.text() == "Measuring, 50%"
    assert panel.cancel.isVisibleTo(panel)
    answer(RESULT)
    assert len(texts(panel)) == 3
    assert panel.start.isVisibleTo(panel)
    assert not panel.cancel.isVisibleTo(panel)


def test_a_failure_is_shown_and_it_can_be_measured_again(open_view, keep_tests, measurer):
    keep_tests(SOFT)
    panel = open_view()
    panel.start.click()
    error = ErrorParts(what="There are no test images.", fix="Train with more.")
    measurer.take(MeasureRobustness)[1](Failed(id=1, error=error))
    assert panel.status.text() == "There are no test images. Train with more."
    panel.start.click()
    measurer.take(MeasureRobustness)[1](RESULT)
    assert panel.status.isHidden()


def test_a_test_is_removed_from_the_project_with_undo(open_view, context, keep_tests):
    keep_tests(SOFT)
    panel = open_view()
    assert panel.tests.text() == "1 test"
    panel.tests.menu().aboutToShow.emit()
    (action,) = panel.tests.menu().actions()
    assert action.text() == "Remove “Soft”"
    action.trigger()
    assert context.document.project.robustness == ()
    assert panel.tests.isHidden()
    context.document.undo_stack.undo()
    assert context.document.project.robustness == (SOFT,)


def test_words_of_a_project_are_shown_as_they_are(open_view, keep_tests):
    keep_tests(RobustnessTest("Snow & fog", {"<img src='x'>": 1.0}))
    panel = open_view()
    panel.tests.menu().aboutToShow.emit()
    (action,) = panel.tests.menu().actions()
    assert action.text() == "Remove “Snow && fog”"
    assert not Qt.mightBeRichText(action.toolTip())


def test_an_error_of_a_run_that_is_not_shown_any_more_changes_nothing(
    qtbot, open_view, run, model, keep_tests
):
    keep_tests(SOFT)
    panel = open_view()
    state = panel._state
    other = model("other")
    (run.path / ROBUSTNESS_NAME).write_text("{")
    state.looked.emit()  # it is read
    state.choose(other.path, "other")
    state.looked.emit()
    qtbot.waitUntil(lambda: not state.background.is_busy)
    assert panel.status.text() == NOT_YET
    state.choose(run.path, "cifar")
    qtbot.waitUntil(lambda: "damaged" in panel.status.text())
    state.looked.emit()  # it is read while it is being measured
    panel.start.click()
    qtbot.waitUntil(lambda: not state.background.is_busy)
    assert panel.cancel.isVisibleTo(panel)
    assert "damaged" not in panel.status.text()


def test_the_figure_is_saved_with_its_values(qtbot, open_view, run, context, tmp_path):
    keep_robustness(run, RESULT, "now")
    panel = open_view()
    for ending in (".csv", ".png", ".svg"):
        with qtbot.waitSignal(panel.saver.said):
            panel.saver.save(tmp_path / f"robustness{ending}")
    with (tmp_path / "robustness.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7
    assert rows[0] == {
        "test": "",
        "level": "0",
        "blur": "",
        "jpeg": "",
        "accuracy": "0.9",
        "images": "50",
    }
    assert (rows[6]["blur"], rows[6]["jpeg"], rows[6]["accuracy"]) == ("4", "20", "0.45")
    assert (tmp_path / "robustness.png").read_bytes().startswith(b"\x89PNG")
    assert b"full strength" in (tmp_path / "robustness.svg").read_bytes()
