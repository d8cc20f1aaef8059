"""What is found in a run stands above its curves, and what it suggests is applied in one step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.gui.panels import panels_of
from workbench.gui.train.view import TrainView
from workbench.templates import find_template

LOSSES = [0.9, 0.6, 0.5, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]
"""Of the validation: overfitting since epoch 4, clear from epoch 9 on."""


@pytest.fixture
def view(show_view, context):
    context.document.new(find_template("lenet5").project)
    return show_view(TrainView(context, panels_of("train")), 1300, 900)


@pytest.fixture
def strip(view):
    return view.diagnosis.strip


@pytest.fixture
def run(context, written):
    """A live run of the open project."""
    context.document.set_recipe(seed=11)  # an edit gives the project its identity
    project = context.document.project
    return written("", project=project, recipe=project.recipe, epochs=20).begin()


def train(run, first, last):
    for number in range(first, last + 1):
        run.batches([1.0 / number] * 10)
        run.epoch(number, loss=0.8**number, val_loss=LOSSES[number - 1])


def test_a_live_run_is_watched(qtbot, strip, run, open_library):
    assert not strip.isVisible()
    train(run, 1, 2)
    open_library()
    qtbot.waitUntil(strip.isVisible)
    assert strip.healthy.text() == "Diagnosis: nothing to report"
    assert strip.healthy.x() == 0  # no border, no margin
    assert not strip.words.isVisible()
    assert "overfitting" in strip.toolTip()
    train(run, 3, 10)
    qtbot.waitUntil(lambda: strip.head.text() == "Overfitting")
    assert strip.words.text().startswith("Overfitting since epoch 4: the validation loss rises")
    assert "Validation loss, epoch 4: 0.4" in strip.figures.text()
    assert not strip.next.isVisible()


def test_its_epochs_are_marked_in_the_curve(qtbot, view, strip, run, open_library):
    train(run, 1, 9)
    open_library()
    qtbot.waitUntil(strip.mark.isVisible)
    assert strip.mark.text() == "Show epochs 4 to 9"
    view.curves.show_page("classes")
    strip.mark.click()
    view.plots.redraw()
    loss, accuracy = (view.plots.by_key[key].axes for key in ("loss", "accuracy"))
    assert loss.isVisible()
    assert loss.span() == (3.0, 9.0)
    assert accuracy.span() is None
    train(run, 10, 10)
    qtbot.waitUntil(lambda: strip.mark.text() == "Show epochs 4 to 10")
    view.plots.redraw()
    assert loss.span() == (3.0, 10.0)
    strip.mark.click()
    view.plots.redraw()
    assert loss.span() is None


def test_the_change_is_one_step_of_undo(qtbot, context, strip, run, open_library):
    document = context.document
    train(run, 1, 10)
    run.finish()
    open_library()
    qtbot.waitUntil(strip.apply.isVisible)
    assert strip.apply.text() == "Apply to the training settings"
    assert "Early stopping, patience: off → 4 epochs" in strip.change.text()
    before, steps = document.project, document.undo_stack.count()
    strip.apply.click()
    assert document.recipe.early_stopping_patience == 4
    assert (document.recipe.keep, document.recipe.keep_by) == ("best", "val_loss")
    assert document.undo_stack.count() == steps + 1
    assert document.undo_stack.undoText() == "Apply: Overfitting"
    assert (strip.apply.text(), strip.apply.isEnabled()) == ("In the training settings", False)
    document.undo_stack.undo()
    assert document.project == before
    assert (strip.apply.text(), strip.apply.isEnabled()) == ("Apply to the training settings", True)


def test_a_run_of_another_project_changes_nothing(qtbot, context, strip, run, open_library):
    train(run, 1, 10)
    run.finish()
    open_library()
    qtbot.waitUntil(strip.apply.isEnabled)
    context.document.new(find_template("fashion_convnet").project)
    context.library.select(run.path)
    qtbot.waitUntil(strip.apply.isVisible)
    assert not strip.apply.isEnabled()
    assert "another project" in strip.change.text()


def test_where_room_is_short_it_is_one_line(qtbot, view, strip, run, open_library):
    view.resize(1024, 600)
    train(run, 1, 10)
    open_library()
    qtbot.waitUntil(lambda: strip.head.text() == "Overfitting")
    assert not strip.words.isVisible()
    assert strip.head.toolTip().startswith("Overfitting since epoch 4")
    strip.head.click()
    assert strip.words.isVisible()
    strip.head.click()
    assert not strip.words.isVisible()


def test_several_findings_are_leafed_through(qtbot, view, strip, run, open_library):
    train(run, 1, 10)
    open_library()
    qtbot.waitUntil(lambda: strip.shown is not None)
    (first,) = view.diagnosis.diagnosis.findings
    second = replace(first, rule="no_progress", title="No more progress", change=None)
    strip.show_findings([first, second], "", epochs=10)
    assert strip.place.text() == "1 of 2"
    strip.mark.click()
    strip.next.click()
    assert (strip.head.text(), strip.place.text()) == ("No more progress", "2 of 2")
    assert not strip.mark.isChecked()
    assert not strip.apply.isVisible()
    strip.next.click()
    assert strip.head.text() == "Overfitting"


def test_the_gravest_is_shown_until_another_is_chosen(qtbot, view, strip, run, open_library):
    train(run, 1, 10)
    open_library()
    qtbot.waitUntil(lambda: strip.shown is not None)
    (found,) = view.diagnosis.diagnosis.findings
    graver, grave = (replace(found, rule=key, title=key) for key in ("diverging", "one_class"))
    for findings, shown in (([found], found), ([grave, found], grave), ([graver, grave], graver)):
        strip.show_findings(findings, "", epochs=10)
        assert strip.head.text() == shown.title
    strip.next.click()
    strip.show_findings([found, graver, grave], "", epochs=11)
    assert strip.head.text() == "one_class"
