"""The train view shows what a run says, while it says it."""

from __future__ import annotations

from itertools import product
from time import perf_counter

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QGuiApplication

from workbench.core.training.recipe import TrainingRecipe
from workbench.gui.common.run_text import state_words
from workbench.gui.panels import panels_of
from workbench.gui.train.run_header import PROGRESS_STEPS, clock
from workbench.gui.train.view import TrainView
from workbench.protocol.bases import ErrorParts
from workbench.protocol.weights import KeptWeights
from workbench.runs.control import command_of
from workbench.runs.folder import create_run
from workbench.runs.state import queue


@pytest.fixture
def view(show_view, context):
    return show_view(TrainView(context, panels_of("train")), 1300, 800)


def test_without_runs_it_says_what_can_be_done(qtbot, view):
    assert view.empty.isVisible()
    assert "top right" in view.empty.text.text()
    assert not view.empty.action.isVisible()  # there is one Train button, in the bar


def test_an_active_run_is_shown_live(qtbot, view, written, open_library):
    run = written("cifar", epochs=5).begin().train(2)
    open_library()
    qtbot.waitUntil(lambda: view.header.headline.text() == "Epoch 2 of 5")
    assert view.header.best.value.text() == "52.0%"
    assert view.header.best_epoch.value.text() == "2"
    assert view.header.speed.value.text() == "1,234"
    assert view.header.stop.isVisible()
    assert view.header.bar.value() == 400
    assert "left" in view.header.left.text()
    run.batches([0.25] * 10)
    run.epoch(3)
    qtbot.waitUntil(lambda: view.header.headline.text() == "Epoch 3 of 5")
    view.plots.redraw()
    assert view.plots.by_key["loss"].series.values.tolist() == run.losses
    assert any("Epoch 3 of 5" in line for line in view.log.text.toPlainText().splitlines())


def test_another_run_is_shown_from_its_top(qtbot, view, written, context, open_library):
    """How far it is, Pause and Stop are there, wherever the earlier one was scrolled to."""
    first = written("a", epochs=2).begin().train(2).finish()
    open_library()
    view.resize(1024, 560)
    qtbot.waitUntil(lambda: view.header.headline.text() == "Completed 2 epochs")
    bar = view.whole.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 50)
    bar.setValue(bar.maximum())
    written("b", epochs=5).begin().train(1)
    open_library()
    assert bar.value() > 0, "a run that is not shown scrolls nothing"
    second = next(run.path for run in context.library.runs if run.path != first.path)
    context.library.select(second)
    qtbot.waitUntil(view.header.stop.isVisible)
    assert bar.value() == 0
    assert view.header.stop.visibleRegion().boundingRect() == view.header.stop.rect()
    bar.setValue(bar.maximum())
    context.library.select(first.path)
    assert bar.value() == 0


class _Overlaps(QObject):
    """Names of widgets of a header that overlap, or are cut, while it is painted."""

    def __init__(self, header):
        super().__init__(header)
        self._header = header
        self.found = []
        header.installEventFilter(self)

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            header = self._header
            names = (header.caption, header.headline)
            figures = (header.speed, header.best, header.best_epoch)
            self.found += [
                (name.text(), figure.heading.text())
                for name, figure in product(names, figures)
                if figure.isVisible() and name.geometry().intersects(figure.geometry())
            ]
            if header.headline.width() < header.headline.sizeHint().width():
                self.found.append((header.headline.text(), "cut"))
        return super().eventFilter(watched, event)


def test_nothing_overlaps_while_the_first_run_appears(qtbot, view, written, open_library):
    """The header is first painted once it is laid out for what it shows."""
    overlaps = _Overlaps(view.header)
    written("cifar", epochs=5).begin().train(2)
    open_library()
    qtbot.waitUntil(lambda: view.header.headline.text() == "Epoch 2 of 5")
    qtbot.waitUntil(lambda: view.header.bar.value() == 400)
    assert overlaps.found == []


def test_header_list_and_plots_have_one_best_epoch_at_any_moment(
    qtbot, view, context, written, open_library
):
    run = written("cifar", epochs=9).begin().train(3)
    open_library()
    qtbot.waitUntil(lambda: view.header.best_epoch.value.text() == "3")
    view.plots.redraw()
    context.library._timer.stop()  # the list is not read again
    in_an_hour = perf_counter() + 3600.0  # as after a drawing whose costs have not passed yet
    view.plots._pace.drew(in_an_hour, 0.0, view.plots._size())
    run.batches([0.25] * 10)
    run.epoch(4, val_accuracy=0.9)
    qtbot.waitUntil(lambda: view.header.best_epoch.value.text() == "4")
    assert view.header.best.value.text() == "90.0%"
    (listed,) = view.panels["train_runs"].model.runs
    assert (listed.best_val_accuracy, listed.epochs_done) == (0.9, 4)
    strips = [view.plots.by_key[key].axes.strip for key in ("loss", "accuracy")]
    qtbot.waitUntil(
        lambda: [strip.words for strip in strips] == ["best val. accuracy: epoch 4"] * 2
    )


def test_the_time_left_of_the_head_ends_where_fine_tuning_begins(
    qtbot, view, written, open_library
):
    run = written("two phases", epochs=9)
    run.fine_tuning_after = 4
    run.begin().train(3)
    open_library()
    left = view.header.left
    qtbot.waitUntil(lambda: left.text().endswith(" s to fine-tuning"))
    assert left.fontMetrics().horizontalAdvance(left.text()) <= left.width()
    assert "after its first steps" in left.toolTip()
    run.train(1)
    run.phase("features", "Computing features")
    qtbot.waitUntil(lambda: not left.text())
    run.train(1)
    run.phase("training", "Epoch 6 of 9")
    qtbot.waitUntil(lambda: left.text().endswith(" s left"))
    assert not left.toolTip()


def test_the_speed_of_a_head_on_cached_features_is_called_so(qtbot, view, written, open_library):
    run = written("two phases", epochs=9)
    run.fine_tuning_after, run.is_on_features = 2, True
    run.begin().train(2)
    open_library()
    speed = view.header.speed
    qtbot.waitUntil(lambda: speed.heading.text() == "Images/s, head")
    assert "cached features" in speed.toolTip()
    run.train(1)
    qtbot.waitUntil(lambda: speed.heading.text() == "Images/s")
    assert not speed.toolTip()


def test_a_run_that_is_over_shows_what_its_saved_weights_reach(qtbot, view, written, open_library):
    """Not the accuracy of another epoch alone."""
    run = written("cifar", epochs=2).begin().train(2)
    kept = KeptWeights(epoch=2, kind="last", val_accuracy=0.41)
    run.finish(kept=kept)
    open_library()
    header = view.header
    qtbot.waitUntil(header.saved.isVisible)
    assert (header.saved.heading.text(), header.saved.value.text()) == (
        "Last epoch, saved", "41.0%",
    )  # fmt: skip
    # Until the run's end is read too, its buttons take the room of this figure.
    qtbot.waitUntil(header.best.isVisible)
    assert header.how.text().startswith("Saved weights: val. accuracy 41.0%")


@pytest.mark.parametrize("on_test", [False, True])
def test_a_best_epoch_that_was_chosen_on_the_test_set_is_marked(
    qtbot, view, written, open_library, on_test
):
    written("cifar", epochs=5).begin(validates_on_test=on_test).train(2)
    open_library()
    qtbot.waitUntil(lambda: view.header.headline.text() == "Epoch 2 of 5")
    heading = "Best on test set" if on_test else "Best val. accuracy"
    assert view.header.best.heading.text() == heading
    assert ("chosen on it" in view.header.best_epoch.toolTip()) is on_test


def test_the_log_of_a_run_followed_again_is_at_its_end(qtbot, context, written, open_library):
    written("long", epochs=90).begin().train(80)
    open_library()
    qtbot.waitUntil(lambda: context.library.current and context.library.current.is_loaded)
    view = TrainView(
        context, panels_of("train")
    )  # its log is filled before it is shown, as after a new start
    qtbot.addWidget(view)
    view.show()
    qtbot.waitExposed(view)
    bar = view.log.text.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())


def test_a_log_that_gets_lower_follows_its_end_until_it_is_scrolled(qtbot, view):
    log, bar = view.log, view.log.text.verticalScrollBar()
    qtbot.addWidget(log)
    log.setParent(None)
    log.resize(600, 200)
    with qtbot.waitExposed(log):
        log.show()
    log.add_text("\n".join(map(str, range(80))))
    assert bar.value() == bar.maximum() > 0
    before = bar.maximum()
    log.resize(600, 120)
    qtbot.waitUntil(lambda: bar.maximum() > before)
    log.add_text("another")
    assert bar.value() == bar.maximum()
    bar.setValue(3)
    log.add_text("and another")
    assert bar.value() == 3


def test_what_the_trainer_does_before_the_first_step_is_said(qtbot, view, written, open_library):
    run = written("cifar")
    open_library()
    assert "Starting" in view.header.headline.text() or "Loading" in view.header.headline.text()
    run.begin()
    run.phase("compiling", "compiling the first step")
    qtbot.waitUntil(lambda: view.header.headline.text() == "Compiling the first step")
    words = "Computing features of training images: 416 of 720"
    run.phase("features", words, fraction=416 / 720)
    qtbot.waitUntil(lambda: view.header.headline.text() == words)
    assert view.header.bar.value() == round(416 / 720 * PROGRESS_STEPS)


def test_stop_is_requested_from_the_trainer(qtbot, view, written, open_library):
    run = written("cifar").begin().train(1)
    open_library()
    qtbot.waitUntil(view.header.stop.isVisible)
    view.header.stop.click()
    qtbot.waitUntil(lambda: command_of(run.folder) is not None)
    assert not view.header.stop.isEnabled()
    run.finish("stopped")
    qtbot.waitUntil(lambda: view.header.headline.text() == "Stopped after 1 epoch")
    assert not view.header.stop.isVisible()


def test_a_trainer_that_does_not_stop_can_be_ended(qtbot, view, context, written, open_library):
    run = written("cifar").begin().train(1)
    open_library()
    qtbot.waitUntil(view.header.stop.isVisible)
    context.library.stop_offered.emit(str(run.path))
    assert view.trouble.end.isVisible()
    with qtbot.waitSignal(view.trouble.end.clicked):
        # The run's lock is this test's own: without it nobody is ended.
        run.end()
        view.trouble.end.click()
    assert view.trouble.kill.isVisible() or view.trouble.isHidden()


def test_a_trainer_that_dies_is_reported_and_its_curves_stay(qtbot, view, written, open_library):
    run = written("cifar").begin().train(2)
    open_library()
    qtbot.waitUntil(lambda: len(view.log.text.toPlainText().splitlines()) > 3)
    lines = view.log.text.toPlainText().splitlines()
    run.folder.log_path.write_text("ignored\nout of memory <b>\n")
    run.end()
    qtbot.waitUntil(view.trouble.isVisible)
    assert view.header.headline.text() == "Training crashed"
    assert "killed" in view.trouble.words.text()
    assert view.trouble.tail.toPlainText().endswith("out of memory <b>")
    assert view.log.text.toPlainText().splitlines()[: len(lines)] == lines
    view.plots.redraw()
    assert view.plots.by_key["loss"].series.values.tolist() == run.losses
    view.trouble.copy.click()
    assert "out of memory <b>" in QGuiApplication.clipboard().text()


def test_what_the_trainer_prints_can_be_read(qtbot, view, written, open_library):
    run = written("cifar").begin()
    run.folder.log_path.write_text("first line\n<i>second</i> line\n")
    open_library()
    view.log.switch.click()
    qtbot.waitUntil(lambda: view.log.output.toPlainText().endswith("<i>second</i> line"))
    view.log.copy.click()
    assert QGuiApplication.clipboard().text() == "first line\n<i>second</i> line"
    view.log.switch.click()
    assert view.log.text.isVisible()


def test_a_failed_run_says_why(qtbot, view, written, open_library):
    error = ErrorParts(what="The loss is not finite at step 3.", fix="Lower the learning rate.")
    written("cifar").begin().train(1).finish("failed", error)
    open_library()
    qtbot.waitUntil(view.trouble.isVisible)
    assert "not finite at step 3" in view.trouble.words.text()
    assert "Lower the learning rate." in view.trouble.words.text()


def test_selecting_another_run_shows_only_that_run(qtbot, view, context, written, open_library):
    old = written("old", epochs=3).begin().train(3).finish()
    new = written("new", epochs=2).begin().train(1)
    open_library()
    qtbot.waitUntil(lambda: view.header.headline.text() == "Epoch 1 of 2")
    context.library.select(old.path)
    qtbot.waitUntil(lambda: view.header.headline.text() == "Completed 3 epochs")
    lines = view.log.text.toPlainText().splitlines()
    new.train(1)
    qtbot.waitUntil(lambda: len(context.library.follower(new.path).history.epochs) == 2)
    assert view.log.text.toPlainText().splitlines() == lines
    view.plots.redraw()
    assert view.plots.by_key["loss"].series.values.tolist() == old.losses


def test_the_recipe_form_edits_the_document_and_is_undone_with_it(view, context):
    view.panels["train_recipe"].form.value_changed.emit("epochs", 33)
    assert context.document.recipe.epochs == 33
    context.document.undo_stack.undo()
    assert context.document.recipe.epochs == TrainingRecipe().epochs


def test_a_run_with_another_recipe_can_lend_it(qtbot, view, context, written, open_library):
    written("x", recipe=TrainingRecipe(epochs=77, optimizer="sgd")).begin().train(1).finish()
    open_library()
    qtbot.waitUntil(lambda: view.panels["train_recipe"].other.note() != "none")
    assert view.panels["train_recipe"].facts.text() == "Optimizer: SGD\nEpochs: 77"
    view.panels["train_recipe"].take.click()
    assert context.document.recipe.epochs == 77
    assert context.document.recipe.optimizer == "sgd"
    assert view.panels["train_recipe"].other.note() == "none"


def test_the_list_can_be_filtered_and_is_described(qtbot, view, context, written, open_library):
    written("flowers").begin().train(1).finish("stopped")
    begun = written("begun").begin()
    begun.batches([1.0] * 3)
    begun.finish("stopped")
    within = written("within").begin().train(1)
    within.batches([1.0] * 3)
    # The best epoch is saved: the weights do not say how far it has come.
    within.finish("stopped", kept=KeptWeights(kind="best", epoch=1))
    waiting = create_run(context.document.project, title="taken out")
    queue.enqueue(waiting)
    queue.cancel(waiting)
    written("fashion", epochs=4).begin().train(2)
    open_library()
    words = {run.title: state_words(run) for run in context.library.runs}
    assert words["fashion"] == "Running · epoch 3 of 4"
    assert words["flowers"].startswith("Stopped after 1 epoch · today")
    assert words["begun"] == "Stopped in the first epoch"
    assert words["within"].startswith("Stopped in epoch 2 · today")
    context.library.select(within.path)
    qtbot.waitUntil(lambda: view.header.headline.text() == "Stopped in epoch 2")
    assert words["taken out"] == "Stopped before the first epoch"
    view.panels["train_runs"].filter.setText("FLOW")
    assert view.panels["train_runs"].list.model().rowCount() == 1
    context.library.select(waiting.path)
    qtbot.waitUntil(lambda: view.header.headline.text() == "Stopped before the first epoch")


def test_the_menu_of_an_active_run_does_not_delete(qtbot, view, context, written, open_library):
    written("fashion").begin()
    open_library()
    menu = view.panels["train_runs"].make_menu(context.library.runs)
    enabled = {action.text().split("\t")[0]: action.isEnabled() for action in menu.actions()}
    assert enabled["Rename…"]
    assert not enabled["Move to trash"]
    assert enabled["Pause"]
    assert enabled["Stop"]


def test_a_title_with_markup_is_shown_as_it_is(qtbot, view, written, open_library):
    written("<b>bold</b>").begin().train(1).finish()
    open_library()
    qtbot.waitUntil(lambda: view.header.caption.text() == "<b>bold</b>")


def test_a_run_is_called_by_its_new_name_on_the_plots_too(
    qtbot, view, context, written, open_library
):
    beside = written("beside").begin().train(1).finish()
    run = written("looked at").begin().train(1)
    open_library()
    context.library.toggle_shown(beside.path)
    qtbot.waitUntil(lambda: view.plots.by_key["loss"].overlays != {})
    context.library.rename(run.path, "renamed")
    qtbot.waitUntil(lambda: view.header.caption.full_text == "renamed")
    assert [plot.main.title for plot in view.plots.by_key.values()] == ["renamed"] * 3
    context.library.rename(beside.path, "renamed too")
    qtbot.waitUntil(
        lambda: (
            [each.title for each in view.plots.by_key["loss"].overlays.values()] == ["renamed too"]
        )
    )


def test_times_that_count_are_whole_seconds():
    assert clock(7.4) == "7 s"
    assert clock(59.6) == "1 min 00 s"
