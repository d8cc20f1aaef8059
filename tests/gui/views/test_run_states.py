"""What the train view says and offers in each state of a run."""

from __future__ import annotations

from dataclasses import asdict
from time import monotonic

import msgspec
import pytest
from PySide6.QtCore import Qt

from workbench.core.checks.estimates import RunEstimate
from workbench.core.training.recipe import TrainingRecipe
from workbench.gui.panels import panels_of
from workbench.gui.train import run_header
from workbench.gui.train.banners import ErrorBanner
from workbench.gui.train.recipe import MemoryWarning
from workbench.gui.train.run_header import CAPTION_PX, RunHeader, plan_facts, plan_pins
from workbench.gui.train.view import TrainView
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import (
    CheckpointKept,
    EpochFinished,
    Plan,
    RunFinished,
    RunStarted,
    TimeSpent,
)
from workbench.protocol.weights import KeptWeights
from workbench.runs.link import Link, Remote, write_link, write_remote
from workbench.runs.log.texts import TIME_PARTS
from workbench.runs.state.outcome import RunOutcome, Suggestion

PLAN = Plan(
    precision="bfloat16",
    xla=True,
    steps_per_call=16,
    pipeline="cached",
    gain=2.71,
    words="bfloat16 (native on this CPU), 2.7× faster than float32",
    pinned=["xla"],
)


@pytest.fixture
def view(show_view, context):
    return show_view(TrainView(context, panels_of("train")), 1300, 800)


def started(run, **fields):
    return RunStarted(
        run=run.folder.name,
        target="this_computer",
        precision=PLAN.precision,
        seed=7,
        versions={"tensorflow": "2.21.0"},
        plan=PLAN,
        epochs=run.epochs,
        batch_size=100,
        pid=1,
        **fields,
    )


def times_shown(view):
    rows = view.panels["train_time"]._rows.items()
    return {name: value.text() for name, (_, _, value) in rows if not value.isHidden()}


def log(run, event):
    run._writer.write(event)


def test_a_paused_run_says_so_and_offers_to_resume(qtbot, view, context, written, open_library):
    run = written("paused", epochs=9).begin().train(4)
    log(
        run,
        RunFinished(
            outcome="stopped",
            run="x",
            seconds=9.0,
            epochs_done=4,
            can_resume=True,
            is_paused=True,
        ),
    )
    run.end()
    open_library()
    qtbot.waitUntil(lambda: view.header.headline.text() == "Paused after 4 epochs")
    assert not view.header.pause.isVisible()
    assert not view.header.stop.isVisible()
    resumed = []
    context.library.resume = lambda path, *, wait: resumed.append((path, wait))
    view.header.set_can_resume(True)
    view.header.resume.click()
    assert resumed == [(run.path, False)]
    assert not view.header.resume.isEnabled()
    assert view.header.resume.text() == "Resuming"


def test_an_active_run_can_be_paused(qtbot, view, context, written, open_library):
    run = written("active").begin().train(1)
    open_library()
    qtbot.waitUntil(view.header.pause.isVisible)
    view.header.pause.click()
    assert context.library.is_pausing(run.path)
    assert view.header.pause.text() == "Pausing"
    assert not view.header.pause.isEnabled()
    context.library.stop_offered.emit(str(run.path))
    assert "process to pause" in view.trouble.words.text()
    view.header.stop.click()  # a pause under way becomes a stop
    assert context.library.is_stopping(run.path)
    assert view.header.stop.text() == "Stopping"
    assert not view.header.stop.isEnabled()
    assert view.trouble.isHidden()
    context.library.stop_offered.emit(str(run.path))
    assert "process to stop" in view.trouble.words.text()


def test_a_press_that_cannot_be_served_gives_its_button_back(
    qtbot, view, context, written, open_library
):
    """Two trainers do not start at once: the second shows an error, not "Resuming"."""
    written("stopped").begin().train(1).finish("stopped")
    open_library()
    qtbot.waitUntil(lambda: view.header.headline.text() == "Stopped after 1 epoch")
    view.header.set_can_resume(True)
    context.library._num_starting = 1
    view.header.resume.click()
    assert view.header.resume.isEnabled()
    assert view.header.resume.text() == "Resume"
    assert any("already being started" in line for line in view.log.text.toPlainText().splitlines())


def test_the_speed_of_a_run_that_is_over_is_that_of_its_last_epoch(
    qtbot, view, written, open_library
):
    run = written("ends", epochs=1).begin()
    run.batches([0.5] * 10)
    open_library()
    qtbot.waitUntil(lambda: view.header.speed.value.text() == "1,234")
    log(
        run,
        EpochFinished(
            epoch=1, step=10, loss=0.8, accuracy=0.5, val_loss=0.9, val_accuracy=0.6,
            seconds=2.0, images_per_second=1000.0,
        ),
    )  # fmt: skip
    run.finish()
    qtbot.waitUntil(lambda: view.header.headline.text() == "Completed 1 epoch")
    assert view.header.speed.value.text() == "1,000"


def test_what_the_header_shows_does_not_depend_on_how_long_the_times_are(
    qtbot, context, written, open_library
):
    written("Fashion-MNIST convnet", epochs=12).begin().train(7)
    open_library()
    header = RunHeader(context.theme)
    qtbot.addWidget(header)
    qtbot.waitUntil(lambda: context.library.current.outcome is not None)
    header.set_follower(context.library.current, "Fashion-MNIST convnet")
    header.show()
    figures = (header.best, header.best_epoch, header.speed)
    shown = {}
    for width in range(header.minimumWidth(), 1_200, 10):
        for words in ("7 s", "59 min 59 s"):
            header.elapsed.setText(words)
            header.left.setText(f"{words} left")
            header.resize(width, header.height())
            header._show_parts()
            is_shown = [figure.isVisibleTo(header) for figure in figures]
            assert shown.setdefault(width, is_shown) == is_shown, width
            if any(is_shown):
                assert header.caption.minimumWidth() == CAPTION_PX
    assert shown[1_190] == [True, True, True]


def test_a_resumed_run_says_whether_its_figures_are_exact(qtbot, view, written, open_library):
    run = written("resumed").begin().train(1)
    log(run, started(run, resumed_at_step=10, bit_exact=["another CPU"]))
    open_library()
    qtbot.waitUntil(lambda: "Resumed at step 11" in view.header.how.text())
    assert "not bit-exact: another CPU" in view.header.how.text()
    assert PLAN.words in view.header.how.text()
    assert any(line.endswith(PLAN.words) for line in view.log.text.toPlainText().splitlines())


def test_the_plan_is_shown_whole_and_can_be_pinned(qtbot, view, context, written, open_library):
    run = written("plan").begin()
    log(run, started(run, replicas=8))
    open_library()
    qtbot.waitUntil(lambda: view.header.how.text() == PLAN.words)
    view.header.plan.click()
    facts = view.header.popup.rows.facts()
    assert facts["XLA compilation"] == "yes, pinned"
    assert facts["Data cached in"] == "disk (decoded)"
    assert facts["Benchmarked speedup"] == "2.7× faster than float32"
    assert facts["Target"] == "This computer"
    assert facts["Data parallelism"] == "8 replicas"
    view.header.popup.pin.click()
    recipe = context.document.recipe
    assert recipe.precision == "bfloat16"
    assert recipe.xla == "on"
    assert recipe.steps_per_call == 16
    assert recipe.pipeline == "cached"
    context.document.undo_stack.undo()
    assert context.document.recipe.precision == "auto"


def test_every_part_of_a_plan_can_be_pinned():
    fields = set(asdict(TrainingRecipe()))
    assert set(plan_pins(PLAN)) <= fields
    assert TrainingRecipe().with_values(**plan_pins(PLAN)).xla == "on"
    empty = RunStarted(
        run="r", target="gone", precision="float32", seed=1, versions={}, pid=1, epochs=1,
        batch_size=1, plan=Plan(precision="float32"),
    )  # fmt: skip
    assert dict(plan_facts(empty))["Steps per execution"] == "–"
    assert dict(plan_facts(empty))["Data parallelism"] == "–"


def test_trouble_with_checkpoints_is_a_calm_bar_that_goes_away(qtbot, view, written, open_library):
    run = written("full disk").begin().train(1)
    open_library()
    full = ErrorParts(what="The disk is full <b>.", fix="Free some space.")
    log(run, CheckpointKept(step=10, epoch=1, problem=full))
    qtbot.waitUntil(view.notice.isVisible)
    words = "The disk is full <b>. Free some space. Last checkpoint: step 10."
    assert view.notice.words.text() == words
    assert view.trouble.isHidden()
    log(run, CheckpointKept(step=12, epoch=1))
    qtbot.waitUntil(view.notice.isHidden)


def test_where_the_time_goes_is_shown_with_the_next_action(qtbot, view, written, open_library):
    run = written("time").begin().train(1)
    open_library()
    assert times_shown(view) == {}
    panel = view.panels["train_time"]
    assert not panel.hint.isHidden()
    assert panel.height() < view.height() / 4, "it is empty"
    log(
        run,
        TimeSpent(
            input_s=3.0,
            compute_s=6.0,
            host_s=1.0,
            compile_s=0.0,
            validation_s=0.0,
            saving_s=0.0,
            advice="A third of the time is spent waiting for pictures.",
        ),
    )
    qtbot.waitUntil(lambda: bool(times_shown(view)))
    assert times_shown(view) == {"compute": "60%", "input": "30%", "host": "10%"}
    assert view.panels["train_time"].advice.text().startswith("A third")
    assert view.panels["train_time"].hint.isHidden()
    what = panel._rows["host"][1]
    assert (what.text(), "Python between the steps" in what.toolTip()) == ("Host overhead", True)
    parts = dict.fromkeys((part.field for part in TIME_PARTS), 2.0)
    log(run, TimeSpent(**parts, after_s=9.0, advice="A third of the time is spent waiting."))
    qtbot.waitUntil(lambda: len(times_shown(view)) == len(TIME_PARTS))
    qtbot.waitUntil(lambda: panel.verticalScrollBar().maximum() == 0)  # no row is cut


def test_a_suggestion_is_one_click_and_only_one(qtbot, context):
    trouble = ErrorBanner()
    qtbot.addWidget(trouble)
    suggestion = Suggestion("Retry with batch 64", {"batch_size": 64})
    trouble.show_outcome(
        RunOutcome("failed", "Out of memory.", suggestion=suggestion, can_resume=True)
    )
    asked = []
    trouble.retry_wanted.connect(asked.append)
    assert trouble.retry.text() == "Retry with batch 64"
    assert not trouble.resume.isHidden()
    trouble.retry.click()
    trouble.retry.click()
    assert asked == [{"batch_size": 64}]
    trouble.show_outcome(RunOutcome("silent", "Nothing was said."))
    assert trouble.retry.isHidden()
    assert trouble.resume.isHidden()


def test_a_run_elsewhere_can_be_connected_again_or_go_on_here(qtbot, context):
    trouble = ErrorBanner()
    qtbot.addWidget(trouble)
    asked = []
    trouble.attach.clicked.connect(lambda: asked.append("attach"))
    trouble.go_on.clicked.connect(lambda: asked.append("move"))
    words = "The TPU went away at step 120; the last checkpoint here is of step 100."
    trouble.show_outcome(RunOutcome("away", words, can_move=True))
    assert trouble.words.text() == words
    assert trouble.end.isHidden()
    trouble.go_on.click()
    trouble.attach.click()  # one click is enough
    assert asked == ["move"]
    trouble.allow()
    trouble.attach.click()
    assert asked == ["move", "attach"]
    trouble.show_outcome(RunOutcome("died", "It ended.", can_resume=True, can_move=True))
    assert (trouble.attach.isHidden(), trouble.go_on.isHidden()) == (True, True)
    assert not trouble.resume.isHidden()


def test_a_retry_trains_the_runs_own_project_with_the_change(
    qtbot, view, context, written, open_library
):
    recipe = TrainingRecipe(batch_size=512, epochs=3)
    run = written("large", recipe=recipe).begin().train(1).finish()
    open_library()
    begun = []
    context.library.start_run = lambda project, **kw: begun.append((project, kw))
    view.actions_of_runs.retry(run.path, {"batch_size": 64})
    qtbot.waitUntil(lambda: len(begun) == 1)
    project, rest = begun[0]
    assert project.recipe == recipe.with_values(batch_size=64)
    assert rest == {"title": "large", "project_path": "", "wait": False}


def test_a_run_that_will_not_fit_offers_a_batch_that_does(view, context):
    large = RunEstimate(
        images_per_second=100.0,
        epoch_s=12.0,
        memory_bytes=40_000_000_000,
        limit_bytes=24_000_000_000,
        fitting_batch=64,
        num_runs=0,
    )
    context.estimator.prediction = large
    context.estimator.changed.emit()
    assert view.panels["train_recipe"].findChild(MemoryWarning).isVisible()
    assert view.panels["train_recipe"].findChild(MemoryWarning).words.text() == (
        "Does not fit: needs about 40.0 GB, and training can use 20.4 GB of 24.0 GB; "
        "other programs need the rest. Try a batch of 64."
    )
    view.panels["train_recipe"].findChild(MemoryWarning).use.click()
    assert context.document.recipe.batch_size == 64
    context.document.undo_stack.undo()
    assert context.document.recipe.batch_size == TrainingRecipe().batch_size


def test_a_network_too_large_for_any_batch_says_so():
    never = RunEstimate(1.0, None, 40_000_000_000, 24_000_000_000, 0, 3)
    assert never.trouble.endswith("make the model smaller.")


def test_the_classes_page_is_made_when_it_is_wanted(qtbot, view, written, open_library):
    run = written("classes").begin().train(1)
    open_library()
    assert view.curves.classes is None
    qtbot.mouseClick(view.curves.switch._buttons["classes"], Qt.MouseButton.LeftButton)
    assert view.curves.classes is not None
    assert view.curves.classes.isVisible()
    run.batches([0.5] * 10)
    run.epoch(2)
    qtbot.waitUntil(
        lambda: any("Epoch 2" in line for line in view.log.text.toPlainText().splitlines())
    )
    view.curves.show_page("curves")
    assert view.plots.isVisible()


def test_a_thousand_runs_are_listed_row_by_row(qtbot, view, context, written, open_library):
    run = written("one").begin().train(1).finish()
    open_library()
    summary = context.library.summary(run.path)
    many = [
        msgspec.structs.replace(summary, path=run.path.with_name(f"r{i}"), title=f"run {i}")
        for i in range(1_000)
    ]
    context.library.runs = [summary, *many]
    context.library.runs_changed.emit()
    assert view.panels["train_runs"].list.model().rowCount() == 1_001
    painted = []
    delegate = view.panels["train_runs"].list.itemDelegateForColumn(0)
    paint = delegate.paint
    delegate.paint = lambda *args: (painted.append(1), paint(*args))
    view.panels["train_runs"].list.scrollToBottom()
    qtbot.waitUntil(lambda: bool(painted))
    assert len(painted) < 100  # only what can be seen is drawn
    view.panels["train_runs"].filter.setText('title:"run 99"')
    assert view.panels["train_runs"].list.model().rowCount() == 11


def test_a_lost_line_is_calm_and_ends_nothing_while_a_silent_trainer_can_be_ended(qtbot, context):
    trouble = ErrorBanner()
    qtbot.addWidget(trouble)
    trouble.show_outcome(RunOutcome("silent", "The line to box has been lost.", is_far=True))
    assert (trouble.property("role"), trouble.end.isHidden()) == ("notice", True)
    trouble.show_outcome(RunOutcome("silent", "The trainer has said nothing for 20 s."))
    assert (trouble.property("role"), trouble.end.isHidden()) == ("problem", False)


def test_of_a_run_that_nobody_is_connected_to_nothing_is_asked(qtbot, view, written, open_library):
    run = written("far").begin().train(1)
    write_remote(run.folder, Remote(target={"key": "ssh"}, host="box", run="run-1"))
    write_link(run.folder, Link(state="refused", host="box"))  # else it is connected again
    run.end()
    open_library()
    header = view.header
    qtbot.waitUntil(view.trouble.isVisible)
    assert header.headline.text() == "Not connected"
    assert all(part.isHidden() for part in (header.pause, header.stop, header.resume))
    assert header.left.text() == ""
    assert not view.trouble.attach.isHidden()


def test_the_bar_keeps_its_width_whatever_the_run_does(qtbot, view, written, open_library):
    run = written("a", epochs=2)
    run.begin()
    open_library()
    qtbot.waitUntil(view.header.bar.isVisible)
    widths = set()
    for text in ("Compiling", "Preparing training images: 272 of 400", "Benchmarking bfloat16"):
        run.phase("compiling", text)
        qtbot.waitUntil(lambda text=text: view.header.headline.text().startswith(text))
        widths.add(view.header.bar.width())
    run.train(2).finish()
    qtbot.waitUntil(lambda: view.header.headline.text() == "Completed 2 epochs")
    qtbot.waitUntil(lambda: view.header.left.text() == "")
    widths.add(view.header.bar.width())
    assert len(widths) == 1


def test_a_finished_run_says_its_test_accuracy_and_which_weights_it_has_saved(
    qtbot, view, written, open_library
):
    run = written("a", epochs=3).begin().train(3)
    open_library()
    qtbot.waitUntil(lambda: view.header.headline.text() == "Epoch 3 of 3")
    assert view.header.test.isHidden()
    run.finish(kept=KeptWeights(epoch=3, val_accuracy=0.53))
    qtbot.waitUntil(lambda: view.header.headline.text() == "Completed 3 epochs")
    assert view.header.test.isVisible()
    assert view.header.test.value.text() == "75.0%"
    assert view.header.how.text().startswith("Saved weights: val. accuracy 53.0%, last epoch (3)")
    assert view.header.best.toolTip() == "Best val. accuracy 53.0% (epoch 3)"


def test_how_it_ran_is_whole_in_a_narrow_window(qtbot, view, written, open_library):
    run = written("long")
    log(run, started(run, resumed_at_step=10, bit_exact=["another CPU"]))
    open_library()
    view.resize(1024, 700)
    how = view.header.how
    qtbot.waitUntil(lambda: PLAN.words in how.text())
    qtbot.waitUntil(lambda: how.height() >= how.heightForWidth(how.width()))


def test_a_run_says_which_weights_it_will_save(qtbot, view, written, open_library):
    run = written("a", epochs=3)
    log(run, started(run, keep="best"))
    open_library()
    words = "Saves the weights of the best epoch"
    qtbot.waitUntil(lambda: view.header.how.text().startswith(words))


def test_the_clock_of_a_run_stands_where_nothing_is_heard_of_it(
    qtbot, view, written, open_library, monkeypatch
):
    """Its last event may be read late: else it would count up, and back at the end."""
    written("busy").begin().train(1)
    open_library()
    header = view.header
    qtbot.waitUntil(header.pause.isVisible)
    later = monotonic() + 1_000.0
    monkeypatch.setattr(run_header, "monotonic", lambda: later)
    header.refresh()
    assert "min" not in header.elapsed.text()
