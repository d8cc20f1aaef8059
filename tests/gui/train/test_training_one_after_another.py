"""Train, Train next, Pause and Stop of the whole window, with runs of the list behind them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from workbench.core.checks.estimates import RunEstimate
from workbench.gui.common import next_run
from workbench.gui.common.next_run import time_title, time_words
from workbench.gui.train import run_controller as run_flow
from workbench.runs.folder import create_run
from workbench.runs.library.projects import OpenProject
from workbench.runs.state.preparing import add_speed, measured_run
from workbench.runs.state.queue import enqueue


@pytest.fixture(autouse=True)
def asked(monkeypatch):
    """Nobody answers at the end of a test: what still trains goes on."""
    answers = [0]
    monkeypatch.setattr(run_flow, "ask_choice", lambda *_args, **_kw: answers[-1])
    return answers


@pytest.fixture
def requested(context, monkeypatch):
    """What the library was asked to stop and to pause; the trainers are this process."""
    calls = []
    for name in ("stop", "pause"):
        monkeypatch.setattr(
            context.library, name, lambda path, name=name: calls.append((name, path))
        )
    return calls


@pytest.fixture
def begun(context, monkeypatch):
    """What the library was asked to start; no trainer is started."""
    calls = []
    monkeypatch.setattr(
        context.library, "start_run", lambda project, **kw: calls.append((project, kw))
    )
    return calls


def _listed(qtbot, context):
    with qtbot.waitSignal(context.library.runs_changed):
        context.library.open()
    current = context.library.current
    qtbot.waitUntil(lambda: current is None or current.outcome is not None)


def test_while_nothing_trains_there_is_one_button(qtbot, window, cifar, begun):
    assert not window.top.next.isVisible()
    window.runs.start()
    window.runs.start()  # a second press while the place is asked starts nothing
    qtbot.waitUntil(lambda: not window.runs.is_running)
    assert [kw["wait"] for _, kw in begun] == [False]


def test_while_a_run_trains_the_next_waits(qtbot, cifar, written, begun):
    window, context = cifar, cifar.context
    window.resize(1440, 900)  # in a narrow one the words give way
    written("active", project=context.document.project).begin().train(1)
    enqueue(create_run(context.document.project, title="second"))
    _listed(qtbot, context)
    assert window.top.next.isVisible()
    assert window.top.next.text() == "Add to queue (1)"
    assert window.top.train.text() == "Stop"
    assert window.actions_by_key["start_run"].text() == "Add to &queue"
    assert window.actions_by_key["pause_run"].isEnabled()
    qtbot.mouseClick(window.top.next, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(begun))
    assert [kw["wait"] for _, kw in begun] == [True]
    assert begun[0][0].graph == context.document.graph


def test_stop_and_pause_mean_the_run_that_trains(qtbot, window, written, requested):
    context = window.context
    active = written("active").begin().train(1)
    waits = create_run(context.document.project, title="waits")
    enqueue(waits)
    old = written("old").begin().train(1).finish()
    _listed(qtbot, context)
    for path in (old.path, waits.path):
        context.library.select(path)
        qtbot.waitUntil(lambda: context.library.current.outcome is not None)
        assert window.runs.running == active.path
        assert window.runs.is_running
    window.runs.pause()
    window.runs.stop()
    assert requested == [("pause", active.path), ("stop", active.path)]


def test_a_pause_is_requested_as_one_and_can_become_a_stop(qtbot, window, written):
    context = window.context
    run = written("active").begin().train(1)
    window.show_view("design")
    _listed(qtbot, context)
    pause, stop = window.actions_by_key["pause_run"], window.actions_by_key["stop_run"]
    pause.trigger()
    assert context.library.is_pausing(run.path)
    assert pause.text() == "Pausing…"
    assert not pause.isEnabled()
    assert window.status.currentMessage().startswith("Pausing “active”…")
    assert window.top.train.text() == "Stop"
    assert window.top.train.isEnabled()
    assert "being paused" in window.top.train.toolTip()
    assert stop.isEnabled()
    qtbot.mouseClick(window.top.train, Qt.MouseButton.LeftButton)
    assert context.library.is_stopping(run.path)
    assert window.top.train.text() == "Stopping…"
    assert not stop.isEnabled()
    assert window.status.currentMessage().startswith("Stopping “active”…")


def test_coming_back_to_a_run_does_not_report_its_end_twice(qtbot, window, written):
    context = window.context
    run = written("active").begin().train(1)
    other = written("other").begin().train(1)
    _listed(qtbot, context)
    for path in (run.path, other.path, run.path, other.path, run.path):
        context.library.select(path)
    follower = context.library.current
    qtbot.waitUntil(lambda: follower.outcome is not None)
    changes = []
    window.runs.changed.connect(lambda: changes.append(1))
    follower.outcome_changed.emit(follower.outcome)
    assert len(changes) == 1


CLOSING = {0: ([], True), 1: (["pause"], True), 2: (["stop"], True), 3: ([], False)}


@pytest.mark.parametrize("answer", CLOSING)
def test_closing_asks_what_becomes_of_the_run(request, window, written, requested, answer):
    run = written("active").begin().train(1)
    _listed(request.getfixturevalue("qtbot"), window.context)
    asked = request.getfixturevalue("asked")
    asked.append(answer)
    wanted, closes = CLOSING[answer]
    assert window.runs.may_close() is closes
    assert requested == [(name, run.path) for name in wanted]
    asked.append(0)


def test_the_line_at_the_bottom_predicts(qtbot, window, cifar):
    qtbot.waitUntil(lambda: window.context.estimator.prediction is not None)
    label, value = window.status._values["Epoch"]
    assert label.text() == "Estimated time per epoch"
    assert value.text()
    assert "no run on this computer" in value.toolTip()
    assert " of " in window.status.text("Memory")
    window.context.document.set_recipe(batch_size=65_536)
    prediction = window.context.estimator.prediction
    is_bad = window.status._values["Memory"][1].property("role") == "bad"
    assert is_bad == (not prediction.fits)
    window.context.document.undo_stack.undo()
    cifar.files.new()  # of a network with errors nothing can be said
    qtbot.waitUntil(lambda: window.context.estimator.prediction is None)
    shown = [*window.status._values["Memory"], *window.status._values["Epoch"]]
    assert not any(part.isVisible() for part in shown)


@pytest.mark.parametrize(
    ("epoch_s", "num_runs", "words"),
    [
        (0.4, 0, "under 1 s"),
        (5.04, 0, "5 s"),
        (5.04, 2, "5 s"),
        (123.0, 1, "2 min 00 s"),
        (None, 0, "120 images/s"),
    ],
)
def test_an_estimate_has_two_digits(epoch_s, num_runs, words):
    prediction = RunEstimate(
        images_per_second=123.0,
        epoch_s=epoch_s,
        memory_bytes=1,
        limit_bytes=0,
        fitting_batch=None,
        num_runs=num_runs,
    )
    assert time_words(prediction) == words
    assert time_title(prediction) == (
        "Estimated speed" if epoch_s is None else "Estimated time per epoch"
    )


def test_where_epochs_differ_the_estimate_is_of_the_run():
    prediction = RunEstimate(10.0, 0.3, 1, 0, None, 0, fine_tuning_epoch_s=50.0, total_s=303.0)
    assert time_title(prediction) == "Estimated training time"
    assert time_words(prediction) == "5 min 00 s"


def test_the_estimate_follows_the_epochs_of_the_run_that_trains(qtbot, cifar, written):
    """Not only after its end: the first guess may be several times off."""
    context = cifar.context
    document, estimator = context.document, context.estimator
    run = written("a", epochs=9).begin().train(1)
    _listed(qtbot, context)
    context.library.select(run.path)
    qtbot.waitUntil(lambda: context.library.current.is_loaded)
    qtbot.waitUntil(lambda: estimator.prediction is not None)
    assert estimator.prediction.num_runs == 0
    recipe = document.recipe
    for precision in ("float32", "bfloat16"):  # whichever this computer chooses
        add_speed(
            measured_run(
                document.analysis, recipe, run=f"{run.folder.name}-{precision}",
                batch_size=recipe.batch_size, precision=precision, images_per_second=123.0,
                memory_bytes=0,
            )
        )  # fmt: skip
    run.train(1)  # its trainer keeps its speed, then logs the next epoch
    qtbot.waitUntil(lambda: estimator.prediction.num_runs == 1)
    assert estimator.prediction.images_per_second == pytest.approx(123.0)


def test_after_some_steps_the_line_shows_the_speed_of_the_run_that_trains(qtbot, cifar, written):
    """Also before its first epoch has ended: beside it the header counts down with that speed."""
    context = cifar.context
    project, estimator = context.document.project, context.estimator
    run = written("", project=project, recipe=project.recipe).begin()
    _listed(qtbot, context)
    qtbot.waitUntil(lambda: estimator.prediction is not None)
    assert not estimator.prediction.is_live
    run.batches([1.0, 0.9, 0.8])
    qtbot.waitUntil(lambda: estimator.prediction.is_live)
    assert estimator.prediction.images_per_second == pytest.approx(1234.0)
    assert cifar.status._values["Epoch"][0].text() == "Time per epoch"
    assert "measured in the run that trains now" in cifar.status._values["Epoch"][0].toolTip()
    context.document.set_recipe(batch_size=32)
    assert not estimator.prediction.is_live, "another project than the one that trains"


def test_the_project_is_encoded_once_while_its_run_logs_steps(qtbot, cifar, written, monkeypatch):
    """That takes milliseconds of the window's thread for a large network."""
    context, encoded, real = cifar.context, [], OpenProject.of
    project, estimator = context.document.project, context.estimator
    encode = staticmethod(lambda given: [encoded.append(given), real(given)][1])
    monkeypatch.setattr(next_run, "OpenProject", type("Encoded", (), {"of": encode}))
    run = written("", project=project, recipe=project.recipe).begin()
    _listed(qtbot, context)
    run.batches([1.0, 0.9])
    qtbot.waitUntil(lambda: estimator.prediction is not None and estimator.prediction.is_live)
    for _call in range(3):
        estimator.predict()
    assert len(encoded) == 1


def test_a_resumed_run_is_not_called_paused_any_longer(qtbot, cifar, written):
    run = written("a", epochs=9).begin().train(1).finish("stopped")
    _listed(qtbot, cifar.context)
    cifar.say("Paused after 1 epoch; it can be resumed.")
    cifar.context.library.run_started.emit(str(run.path))
    assert cifar.status.currentMessage() == "“a”: the training process has started."
