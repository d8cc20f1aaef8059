"""Runs that are killed, paused or stopped and go on as if nothing had happened."""

from __future__ import annotations

import os
import resource
import signal

import numpy as np
import pytest

from tests.worker.conftest import ENDLESS
from workbench.core.format import plural
from workbench.protocol.events import Batch, CheckpointKept, EpochFinished, RunFinished, RunStarted
from workbench.runs.control import request_pause
from workbench.runs.library.index import list_runs
from workbench.runs.log.event_log import read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.start import start_trainer
from workbench.runs.state import queue
from workbench.runs.state.outcome import outcome_of
from workbench.runs.store.checkpoint import read_checkpoint
from workbench.runs.store.weights_file import read_arrays

pytestmark = pytest.mark.worker

AUGMENTED = [
    ("random_flip", {}),
    ("rescaling", {}),
    ("conv2d", {"filters": 4}),
    ("batch_normalization", {}),
    ("dropout", {"rate": 0.2}),
]
LONG = {"epochs": 60, "schedule": "cosine", "validation": "split", "learning_rate": 0.01}


def history_of(run):
    history = MetricHistory()
    history.add_all(read_all(run.events_path))
    return history


def curves_of(run):
    """All that a run logged of its steps and epochs, without what depends on the clock."""
    history = history_of(run)
    epochs = [
        (e.epoch, e.step, e.loss, e.accuracy, e.val_loss, e.val_accuracy) for e in history.epochs
    ]
    return history.steps.tolist(), history.losses.tolist(), history.accuracies.tolist(), epochs


def assert_equal_runs(whole, resumed):
    """The one trained in this process, and the other."""
    assert curves_of(whole.run) == curves_of(resumed)
    left, right = read_arrays(whole.run.weights_path), read_arrays(resumed.weights_path)
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_array_equal(left[name], right[name])
    finished = history_of(resumed).finished
    assert whole.training.is_completed
    assert finished.outcome == "completed"
    assert whole.training.test == finished.test
    assert whole.training.counters.best_epoch == finished.best


def resume(training):
    training.pid = start_trainer(training.run, resume=True)


def test_a_run_killed_at_any_step_ends_as_if_it_had_not_been(trainer, train_here, small_project):
    killed = trainer(small_project(*AUGMENTED, **LONG))
    killed.wait_for(CheckpointKept)
    killed.wait_for(Batch, count=len(killed.all(Batch)) + 3)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait_for_end()
    assert outcome_of(killed.run).kind == "died"
    assert outcome_of(killed.run).can_resume
    elapsed_s = history_of(killed.run).elapsed_s

    resume(killed)
    finished = killed.wait_for(RunFinished)[-1]
    assert finished.seconds > elapsed_s  # what is done again took its time, too
    started = killed.all(RunStarted)[-1]
    assert started.resumed_at_step >= 10
    assert started.bit_exact is True
    killed.wait_for_end()
    assert_equal_runs(train_here(small_project(*AUGMENTED, **LONG)), killed.run)
    kept = read_checkpoint(killed.run)  # that of the end alone: it can be trained longer
    assert kept.state.epochs_done == LONG["epochs"]
    assert len(list(killed.run.checkpoints_path.iterdir())) == 1


def test_a_pause_in_the_middle_of_an_epoch(trainer, train_here, small_project):
    """It is resumed by the queue, and its boards forget what is done again."""
    recipe = {**LONG, "keep": "best", "steps_per_epoch": 400, "epochs": 4, "optimizer": "adamw"}
    paused = trainer(small_project(*AUGMENTED, **recipe))
    paused.wait_for(EpochFinished)
    request_pause(paused.run)
    finished = paused.wait_for(RunFinished)[0]
    paused.wait_for_end()
    assert (finished.outcome, finished.is_paused, finished.can_resume) == ("stopped", True, True)
    assert finished.test is None
    outcome = outcome_of(paused.run)
    assert (outcome.kind, outcome.can_resume) == ("paused", True)
    checkpoint = read_checkpoint(paused.run)
    # On a busy machine the trainer may be through with the next epoch before it sees the pause.
    done = checkpoint.state.epochs_done
    assert 1 <= done < 4
    is_within = checkpoint.state.step > done * 400
    assert finished.is_within == is_within
    where = f"in epoch {done + 1}" if is_within else f"after {plural(done, 'epoch')}"
    assert outcome.sentence() == f"Paused {where}; it can be resumed."
    assert checkpoint.state.step == history_of(paused.run).steps[-1]

    queue.enqueue(paused.run, resume=True)
    assert list_runs()[0].outcome == "waiting"
    queue.start_next()
    started = paused.wait_for(RunStarted, count=2)
    paused.pid = started[-1].pid
    last = paused.wait_for(RunFinished, count=2)[-1]
    paused.wait_for_end()
    assert_equal_runs(train_here(small_project(*AUGMENTED, **recipe)), paused.run)
    assert last.seconds > finished.seconds
    assert [event.resumed_at_step for event in started] == [None, checkpoint.state.step]
    assert_same_on_boards(paused)


def assert_same_on_boards(resumed):
    found = boards(resumed.run.path / "tensorboard")
    steps_before = resumed.all(RunStarted)[-1].resumed_at_step
    assert found["train"]["starts"] == [1, steps_before + 1]
    epochs = {event.epoch: event for event in resumed.all(EpochFinished)}
    assert len(epochs) == 4
    for part, key in (("train", "accuracy"), ("validation", "val_accuracy")):
        values = {event.step: getattr(event, key) for event in epochs.values()}
        assert found[part]["epoch_accuracy"] == pytest.approx(values)


def boards(folder):
    import tensorflow as tf

    found = {}
    for part in ("train", "validation"):
        found[part] = {"starts": []}
        for path in sorted((folder / part).iterdir()):
            for record in tf.data.TFRecordDataset(str(path)):
                event = tf.compat.v1.Event.FromString(record.numpy())
                if event.session_log.status == 1:
                    found[part]["starts"].append(event.step)
                for value in event.summary.value:
                    found[part].setdefault(value.tag, {})[event.step] = value.simple_value
    return found


@pytest.mark.full
def test_a_checkpoint_that_cannot_be_written_is_logged_and_training_goes_on(trainer, small_project):
    """Files limited in size: the event log fits, the checkpoint does not."""
    wide = [("flatten", {}), ("dense", {"units": 2_000})]
    training = trainer(small_project(*wide, **ENDLESS))
    training.wait_for(CheckpointKept)
    old = read_checkpoint(training.run).state.number
    soft, hard = resource.prlimit(training.pid, resource.RLIMIT_FSIZE)
    limit = min(file.stat().st_size for file in training.run.checkpoints_path.glob("?.npz")) // 2
    resource.prlimit(training.pid, resource.RLIMIT_FSIZE, (limit, hard))

    def is_problem(event):
        return isinstance(event, CheckpointKept) and event.problem is not None

    while not any(map(is_problem, training.events)):
        training.wait_for(CheckpointKept, count=len(training.all(CheckpointKept)) + 1)
    logged = next(filter(is_problem, training.events))
    assert "larger than allowed" in logged.problem.what
    assert read_checkpoint(training.run).state.number >= old
    training.wait_for(EpochFinished, count=len(training.all(EpochFinished)) + 3)

    resource.prlimit(training.pid, resource.RLIMIT_FSIZE, (soft, hard))
    while is_problem(training.all(CheckpointKept)[-1]):
        training.wait_for(CheckpointKept, count=len(training.all(CheckpointKept)) + 1)
    request_pause(training.run)
    finished = training.finish()
    assert finished.can_resume
    assert read_checkpoint(training.run).state.step == history_of(training.run).steps[-1]
