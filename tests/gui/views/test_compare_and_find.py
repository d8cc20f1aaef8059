"""Two runs side by side; numbers of the recipe found by trying."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QFont, QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget

from tests.measurer import Measurer
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.gui.kit.theme import DARK, LIGHT
from workbench.gui.train.finders import FinderController
from workbench.gui.train.runs import controller as run_actions_flow
from workbench.gui.train.runs.compare_dialog import CompareManyRuns, CompareRuns, comparison_text
from workbench.gui.train.runs.controller import RunActions
from workbench.protocol.bases import ErrorParts
from workbench.protocol.find import (
    BatchSizeFound,
    BatchSizeTried,
    FindBatchSize,
    FindLearningRate,
    LearningRateFound,
    LearningRateTrial,
    LearningRateTried,
)
from workbench.protocol.messages import Failed, Progress
from workbench.templates import find_template


@pytest.fixture
def measurer(context, monkeypatch):
    context.document.new(find_template("fashion_convnet").project)
    return Measurer(context, monkeypatch)


@pytest.fixture
def finders(context, qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    return FinderController(context, window)


def texts(item):
    return [item.child(i).text(0) for i in range(item.childCount())]


def test_differences_come_first_and_equal_sections_are_folded(
    qtbot, context, written, open_library
):
    a = written("one", recipe=TrainingRecipe(epochs=4)).begin().train(2).finish()
    b = written("two", recipe=TrainingRecipe(epochs=9, optimizer="sgd")).begin().train(1).finish()
    open_library()
    dialog = CompareRuns(context.theme, context.library.runs, a.path, b.path)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.comparison is not None)
    tops = [dialog.tree.topLevelItem(i) for i in range(dialog.tree.topLevelItemCount())]
    recipe = next(top for top in tops if top.text(0).startswith("Training settings"))
    assert recipe.text(0) == "Training settings · 2 differences"
    assert texts(recipe) == ["Optimizer", "Epochs"]
    assert recipe.isExpanded()
    assert tops[0].text(0).startswith("Results")
    states = ["difference" not in top.text(0) for top in tops[1:]]
    assert states == sorted(states)
    assert "training settings" in dialog.words.text()
    dialog.copy.click()
    assert "Epochs\t4\t9" in QGuiApplication.clipboard().text()
    heads = [dialog.tree.headerItem().text(i) for i in range(4)]
    assert heads == ["", dialog.left.currentText(), dialog.right.currentText(), "Difference"]
    assert heads[1].startswith("one")
    dialog.swap.click()
    qtbot.waitUntil(dialog.copy.isEnabled)
    assert dialog.tree.headerItem().text(1) == heads[2]
    dialog.copy.click()
    assert "Epochs\t9\t4" in QGuiApplication.clipboard().text()
    text = comparison_text(dialog.comparison, "=1+1", "b\tc")
    assert text.startswith("\t'=1+1\tb\\tc\n")
    dialog.reject()


def test_more_than_two_runs_are_compared_in_columns(qtbot, context, written, open_library):
    for name, epochs in (("one", 4), ("two", 9), ("three", 4)):
        written(name, recipe=TrainingRecipe(epochs=epochs)).begin().train(1).finish()
    open_library()
    actions = RunActions(context, window := QWidget())
    qtbot.addWidget(window)
    runs = sorted(context.library.runs, key=lambda run: run.title)  # one, three, two
    actions.do("compare", runs)
    dialog = next(each for each in window.findChildren(CompareManyRuns))
    qtbot.waitUntil(dialog.copy.isEnabled)
    titles = [dialog.tree.headerItem().text(i) for i in range(1, 4)]
    assert titles == ["one", "three", "two"]
    tops = [dialog.tree.topLevelItem(i) for i in range(dialog.tree.topLevelItemCount())]
    assert tops[0].text(0) == "Results"
    recipe = next(top for top in tops if top.text(0) == "Training settings")
    assert [recipe.child(0).text(i) for i in range(4)] == ["Epochs", "4", "4", "9"]
    dialog.reject()
    actions.close()


def test_data_edits_that_differ_are_named_in_both_dialogs(qtbot, context, written, open_library):
    labels = ({}, {"a" * 32: "dog"}, {"a" * 32: "dog", "b" * 32: "cat"})
    runs = [
        written(name, project=Project(edits=DataEdits(labels=edits))).begin().train(1).finish()
        for name, edits in zip(("one", "two", "three"), labels, strict=True)
    ]
    open_library()
    dialog = CompareRuns(context.theme, context.library.runs, runs[0].path, runs[1].path)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.comparison is not None)
    assert "Data edits: 1 label differs" in dialog.words.text()
    tops = [dialog.tree.topLevelItem(i) for i in range(dialog.tree.topLevelItemCount())]
    data = next(top for top in tops if top.text(0).startswith("Data"))
    assert data.text(0) == "Data · 1 difference"
    assert [data.child(0).text(i) for i in range(4)] == [
        "Relabeled images", "0", "1", "1 label differs",
    ]  # fmt: skip
    dialog.copy.click()
    assert "Data edits: 1 label differs" in QGuiApplication.clipboard().text()
    dialog.reject()
    summaries = [context.library.summary(run.path) for run in runs]
    many = CompareManyRuns(context.theme, summaries)
    qtbot.addWidget(many)
    qtbot.waitUntil(many.copy.isEnabled)
    assert "Data edits: 1 label differs" in many.words.text()
    assert "Data edits: 2 labels differ" in many.words.text()
    many.reject()


def test_a_run_with_itself_is_the_same(qtbot, context, written, open_library):
    a = written("one").begin().train(2).finish()
    open_library()
    dialog = CompareRuns(context.theme, context.library.runs, a.path, a.path)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.comparison is not None)
    assert dialog.words.text() == "Both runs are identical in everything that is compared."
    dialog.reject()


def test_the_colours_of_a_comparison_follow_the_theme(qtbot, context, written, open_library):
    a = written("one", recipe=TrainingRecipe(epochs=4)).begin().train(2).finish()
    b = written("two", recipe=TrainingRecipe(epochs=9)).begin().train(1).finish()
    open_library()
    context.theme.set_mode("light")
    dialog = CompareRuns(context.theme, context.library.runs, a.path, b.path)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: dialog.comparison is not None)
    for mode, colors in (("dark", DARK), ("light", LIGHT)):
        context.theme.set_mode(mode)
        row = dialog.tree.topLevelItem(0).child(0)
        assert row.foreground(0).color() == QColor(colors.dim)
    dialog.reject()


def test_a_run_that_is_gone_is_said(qtbot, context, written, open_library):
    a, b = written("one").begin().train(1).finish(), written("two").begin().train(1).finish()
    open_library()
    b.folder.request_path.unlink()
    dialog = CompareRuns(context.theme, context.library.runs, a.path, b.path)
    qtbot.addWidget(dialog)
    qtbot.waitUntil(lambda: not dialog.words.is_waiting)
    assert "not a run" in dialog.words.text()
    dialog.reject()


def test_curves_are_written_as_tables(qtbot, context, written, open_library, monkeypatch):
    run = written("curves").begin().train(2).finish()
    open_library()
    window = QWidget()
    qtbot.addWidget(window)
    actions = RunActions(context, window)
    target = run.path.parent / "curves.csv"
    monkeypatch.setattr(run_actions_flow, "ask_save_path", lambda *_, **__: (str(target), ""))
    with qtbot.waitSignal(actions.said) as said:
        actions.do("curves:csv", [context.library.summary(run.path)])
    actions.close()
    assert len(target.read_text().splitlines()) > 2
    assert said.args[0].startswith("Curves written to curves.csv and curves")


def test_a_found_learning_rate_is_one_undoable_click(context, measurer, finders):
    before = context.document.recipe.learning_rate
    finders.find("learning_rate")
    dialog = finders.dialog
    assert not dialog.isModal()
    fonts = [label.font() for label in dialog.findChildren(QLabel)]
    assert {font.capitalization() for font in fonts} == {QFont.Capitalization.MixedCase}
    assert isinstance(measurer.requests[0], FindLearningRate)
    assert dialog.is_searching
    measurer.answer(Progress(id=1, text="Trying rates", fraction=0.5))
    assert dialog.progress.value() == 500
    measurer.answer(LearningRateTried(id=1, rates=[1e-4, 1e-3, 1e-2], losses=[2.3, 1.9, None]))
    measurer.answer(LearningRateTrial(id=1, rate=0.003, steps=60, accuracy=0.8, loss=0.5))
    assert dialog.plots.trials.accessibleDescription() == (
        "learning rate 0.003: 80.0% accuracy after 60 steps"
    )
    words = "0.003 is better than your rate 0.001. Good range: 0.003."
    found = LearningRateFound(
        id=1, suggested=0.003, words=words, verdict="change", present=before, good=[0.003, 0.003]
    )
    measurer.answer(found)
    assert not dialog.is_searching
    assert dialog.words.text() == words
    assert dialog.use.text() == "Use 0.003"
    dialog.use.click()
    assert context.document.recipe.learning_rate == 0.003
    assert finders.dialog is None
    context.document.undo_stack.undo()
    assert context.document.recipe.learning_rate == before


def test_a_found_rate_is_the_value_of_the_field_that_was_tried(context, measurer, finders):
    context.document.set_recipe(rate_scaling="linear", rate_base_batch=256, batch_size=1_024)
    finders.find("learning_rate")
    found = LearningRateFound(
        id=1, suggested=0.01, words="0.01 is better.", verdict="change", present=0.001
    )
    measurer.answer(found)
    finders.dialog.use.click()
    assert context.document.recipe.learning_rate == 0.01
    assert context.document.recipe.peak_rate == pytest.approx(0.04)
    assert context.document.recipe.rate_base_batch == 256


def test_a_rate_to_keep_is_nothing_to_use(context, measurer, finders):
    finders.find("learning_rate")
    rate = context.document.recipe.learning_rate
    words = f"Your rate {rate:g} is within the good range (0.0003 to 0.001); keep it."
    found = LearningRateFound(
        id=1, suggested=rate, words=words, verdict="keep", present=rate, good=[0.0003, 0.001]
    )
    measurer.answer(found)
    assert finders.dialog.use.isHidden()
    assert finders.dialog.words.text() == words
    finders.dialog.reject()


def test_without_a_good_rate_there_is_nothing_to_use(measurer, finders):
    finders.find("learning_rate")
    measurer.answer(
        LearningRateFound(id=1, suggested=None, words="No learning rate lowered the loss.")
    )
    assert finders.dialog.use.isHidden()
    assert not finders.dialog.again.isHidden()
    finders.dialog.reject()


def _places(dialog):
    labels = dialog.findChildren(QLabel)
    shown = [label for label in labels if label.isVisible() and label.text()]
    return {label.text(): label.mapTo(dialog, label.rect().topLeft()) for label in shown}


@pytest.mark.parametrize("font_size", [9, 14])
def test_nothing_moves_while_bars_and_the_answer_arrive(qtbot, measurer, finders, qapp, font_size):
    before = qapp.font()
    font = qapp.font()
    font.setPointSize(font_size)
    qapp.setFont(font)
    finders.find("batch_size")
    dialog = finders.dialog
    qtbot.waitExposed(dialog)
    places, bars = _places(dialog), dialog.plot.geometry()
    assert "Find batch size" in places
    assert places["Find batch size"].y() < 60
    for size in dialog.make_request("").sizes:
        measurer.answer(BatchSizeTried(id=1, size=size, images_per_second=900.0 + size))
        qapp.processEvents()
        assert dialog.plot.geometry() == bars
    changes = ["Steps per epoch stays 60, so an epoch trains on 15,360 images.", "The rate stays."]
    measurer.answer(
        BatchSizeFound(
            id=1, fastest=64, largest=64, suggested=64, words="64: 900 images/s.", changes=changes
        )
    )
    qapp.processEvents()
    after = _places(dialog)
    assert dialog.plot.geometry() == bars
    assert all(after[text] == place for text, place in places.items() if text in after)
    assert dialog.words.text() == f"64: 900 images/s. {changes[0]} {changes[1]}"
    assert dialog.words.heightForWidth(dialog.words.width()) <= dialog.words.height()
    qapp.setFont(before)
    dialog.reject()


def test_a_found_batch_size_goes_into_the_recipe(context, measurer, finders):
    finders.find("batch_size")
    assert isinstance(measurer.requests[0], FindBatchSize)
    measurer.answer(BatchSizeTried(id=1, size=64, images_per_second=900.0, memory_bytes=10**9))
    measurer.answer(BatchSizeTried(id=1, size=128, problem="does not fit"))
    measurer.answer(BatchSizeFound(id=1, fastest=64, largest=64, suggested=64, words="64."))
    finders.dialog.use.click()
    assert context.document.recipe.batch_size == 64


def test_a_search_can_be_called_off_and_begun_again(measurer, finders):
    finders.find("batch_size")
    dialog = finders.dialog
    finders.find("learning_rate")  # one at a time
    assert len(measurer.requests) == 1
    dialog.stop.click()
    assert measurer.cancelled == [1]
    late = BatchSizeFound(id=1, fastest=8, largest=8, suggested=8, words="late")
    measurer.answer(late)
    assert dialog.use.isHidden()
    dialog.again.click()
    assert len(measurer.requests) == 2
    dialog.reject()
    assert measurer.cancelled == [1, 2]
    assert finders.dialog is None


def test_a_search_that_fails_says_why(measurer, finders):
    finders.find("batch_size")
    error = ErrorParts(what="The pictures are not there.", fix="Choose another folder.")
    measurer.answer(Failed(id=1, error=error))
    assert "The pictures are not there." in finders.dialog.words.text()
    assert not finders.dialog.is_searching
    finders.dialog.reject()


KEPT = "Your rate 0.001 is within the good range (0.0003 to 0.001); keep it."
CHANGED = "0.003 is better than your rate 0.001. Good range: 0.003."


def test_a_result_of_another_rate_is_marked_and_searched_again(context, measurer, finders, qapp):
    finders.find("learning_rate")
    dialog = finders.dialog
    found = LearningRateFound(
        id=1, suggested=0.003, words=CHANGED, verdict="change", present=0.001, good=[0.003]
    )
    measurer.answer(found)
    assert not dialog.outdated.isVisible()
    assert dialog.use.isEnabled()
    finders.find("learning_rate")  # nothing has changed: it is brought up
    assert (finders.dialog, len(measurer.requests)) == (dialog, 1)
    context.document.set_recipe(learning_rate=0.1)
    assert dialog.outdated.isVisible()
    assert dialog.outdated.text().startswith("Outdated: the project has been changed")
    assert not dialog.use.isEnabled()
    context.document.undo_stack.undo()
    assert not dialog.outdated.isVisible()
    assert dialog.use.isEnabled()
    context.document.undo_stack.redo()
    finders.find("learning_rate")
    assert len(measurer.requests) == 2
    assert '"learning_rate": 0.1' in measurer.requests[1].project
    assert finders.dialog.is_searching
    assert not finders.dialog.is_outdated
    assert CHANGED not in finders.dialog.words.text()
    finders.dialog.reject()


def test_another_project_and_another_network_outdate_a_batch_size(context, measurer, finders):
    finders.find("batch_size")
    measurer.answer(BatchSizeTried(id=1, size=64, images_per_second=900.0, memory_bytes=10**9))
    measurer.answer(BatchSizeFound(id=1, fastest=64, largest=64, suggested=64, words="64."))
    dialog, document = finders.dialog, context.document
    document.move({next(iter(document.graph.nodes)): (900.0, 40.0)})
    assert not dialog.is_outdated, "places on the canvas decide nothing"
    document.add_node("dropout")
    assert not dialog.use.isEnabled()
    document.undo_stack.undo()
    assert dialog.use.isEnabled()
    document.new(find_template("fashion_convnet").project)
    assert not dialog.is_outdated, "it trains the same"
    document.new(find_template("cifar10_speedrun").project)
    assert dialog.outdated.isVisible()
    finders.find("batch_size")
    assert len(measurer.requests) == 2
    finders.dialog.reject()


def test_the_other_finder_takes_the_place_of_a_result(measurer, finders):
    finders.find("batch_size")
    measurer.answer(BatchSizeFound(id=1, fastest=64, largest=64, suggested=64, words="64."))
    finders.find("learning_rate")
    assert isinstance(measurer.requests[1], FindLearningRate)
    assert finders.dialog.is_searching
    finders.dialog.reject()


def test_a_search_of_the_project_before_is_replaced(context, measurer, finders):
    finders.find("learning_rate")
    context.document.set_recipe(learning_rate=0.1)
    finders.find("learning_rate")
    assert measurer.cancelled == [1]
    assert len(measurer.requests) == 2
    assert finders.dialog.is_searching
    finders.dialog.reject()


def test_a_size_that_is_measured_again_has_one_bar(measurer, finders):
    finders.find("batch_size")
    for size, speed in ((64, 900.0), (128, 400.0)):
        measurer.answer(BatchSizeTried(id=1, size=size, images_per_second=speed))
    again = BatchSizeTried(id=1, size=64, images_per_second=850.0, times=2, spread=0.1111)
    measurer.answer(again)
    assert finders.dialog.plot.accessibleDescription() == (
        "batch 64: 850 images/s, spread 11%; batch 128: 400 images/s"
    )
    finders.dialog.reject()


def test_a_network_with_errors_is_not_tried(context, measurer, finders):
    context.document.new()
    said = []
    finders.said.connect(said.append)
    finders.find("learning_rate")
    assert finders.dialog is None
    assert len(said) == 1
