"""Completed runs that are trained for more epochs."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.worker.trainer.test_resume import AUGMENTED, assert_equal_runs, curves_of, history_of
from workbench.protocol.events import CheckpointKept, LogLine, RunFinished, RunStarted
from workbench.runs.control import request_pause
from workbench.runs.library.summary import summarise
from workbench.runs.start import start_trainer
from workbench.runs.state import queue
from workbench.runs.state.outcome import outcome_of
from workbench.runs.state.preparing import extension_to
from workbench.runs.store.checkpoint import read_checkpoint
from workbench.runs.store.weights_file import read_arrays
from workbench.settings.options.keeps_checkpoints import SPEC as KEEPS_CHECKPOINTS
from workbench.settings.store import SettingsStore

pytestmark = pytest.mark.worker

RECIPE = {
    "validation": "split",
    "learning_rate": 0.01,
    "optimizer": "adamw",
    "precision": "float32",
    "xla": "off",
}


def train_longer(training, epochs):
    extension = extension_to(training.run, epochs)
    training.pid = start_trainer(training.run, resume=True, extension=extension)
    finished = training.wait_for(RunFinished, count=len(training.all(RunFinished)) + 1)[-1]
    training.wait_for_end()
    assert finished.outcome == "completed", finished.error
    return finished


@pytest.mark.full_but("best")
@pytest.mark.parametrize("keep", ["last", "best"])
def test_two_epochs_and_two_more_are_four(trainer, train_here, small_project, keep):
    """Optimizer, data position, random state, best epoch: the weights are equal to the bit."""
    training = trainer(small_project(*AUGMENTED, **RECIPE, epochs=2, keep=keep))
    first = training.finish()
    assert first.epochs_done == 2
    assert outcome_of(training.run).can_train_longer
    before = curves_of(training.run)
    line = summarise(training.run)
    assert (line.epochs_done, line.epochs, line.can_train_longer) == (2, 2, True)

    last = train_longer(training, 4)
    started = training.all(RunStarted)[-1]
    assert (started.epochs, started.bit_exact) == (4, True)
    assert started.resumed_at_step == len(before[0])
    assert_equal_runs(
        train_here(small_project(*AUGMENTED, **RECIPE, epochs=4, keep=keep)), training.run
    )
    steps, losses, _, epochs = curves_of(training.run)
    assert steps == list(range(1, 2 * len(before[0]) + 1))  # without a gap, nothing twice
    assert losses[: len(before[1])] == before[1]
    assert [epoch[0] for epoch in epochs] == [1, 2, 3, 4]
    assert last.epochs_done == 4
    assert last.seconds > first.seconds
    line = summarise(training.run)
    assert (line.outcome, line.epochs_done, line.epochs) == ("completed", 4, 4)
    assert line.label.endswith("4 epochs")
    assert line.can_train_longer


@pytest.mark.full
def test_a_schedule_over_all_epochs_is_computed_anew_and_that_is_logged(trainer, small_project):
    training = trainer(small_project(**RECIPE, epochs=2, schedule="cosine"))
    training.finish()
    old_rate = history_of(training.run).epochs[-1].learning_rate
    train_longer(training, 4)
    rates = [epoch.learning_rate for epoch in history_of(training.run).epochs]
    assert rates[1] == old_rate < rates[2]  # half way down the longer schedule
    (words,) = [e.text for e in training.all(LogLine) if "cosine decay over 4 epochs" in e.text]
    assert "differs from that of a run planned for 4 epochs" in words


@pytest.mark.full
def test_what_early_stopping_ended_goes_on_and_its_best_epoch_stays(trainer, small_project):
    """Steps that are lost in rounding: no epoch is better than the first."""
    recipe = {**RECIPE, "optimizer": "sgd", "learning_rate": 1e-30, "keep": "best"}
    training = trainer(small_project(**recipe, epochs=20, early_stopping_patience=2))
    assert training.finish().epochs_done == 3
    kept = read_arrays(training.run.weights_path)
    last = train_longer(training, 30)
    assert (last.epochs_done, last.best.epoch, last.kept.epoch) == (5, 1, 1)
    for name, array in read_arrays(training.run.weights_path).items():
        np.testing.assert_array_equal(array, kept[name])


@pytest.mark.full
def test_a_longer_training_is_paused_and_resumed_from_the_queue(trainer, train_here, small_project):
    training = trainer(small_project(*AUGMENTED, **RECIPE, epochs=1, steps_per_epoch=150))
    training.finish()
    queue.enqueue(training.run, resume=True, extension=extension_to(training.run, 3))
    assert training.run.request().to_project().recipe.epochs == 1  # nothing has begun
    queue.start_next()
    training.pid = training.wait_for(RunStarted, count=2)[-1].pid
    request_pause(training.run)
    paused = training.wait_for(RunFinished, count=2)[-1]
    training.wait_for_end()
    assert paused.is_paused
    assert summarise(training.run).epochs == 3
    start_trainer(training.run, resume=True)
    training.wait_for(RunFinished, count=3)
    training.wait_for_end()
    whole = train_here(small_project(*AUGMENTED, **RECIPE, epochs=3, steps_per_epoch=150))
    assert_equal_runs(whole, training.run)


def test_the_terminal_trains_longer(trainer, small_project):
    training = trainer(small_project(**RECIPE, epochs=1))
    training.finish()
    words = [sys.executable, "-m", "workbench", "resume", str(training.run.path)]
    refused = subprocess.run([*words, "--epochs", "1"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "already trained 1 epoch" in refused.stderr
    done = subprocess.run(
        [*words, "--epochs", "2", "--json"], capture_output=True, text=True, check=True
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[-1]["outcome"] == "completed"
    assert events[-1]["epochs_done"] == 2
    assert [e["epoch"] for e in events if e["event"] == "epoch_finished"] == [2]


@pytest.mark.full
def test_without_the_setting_nothing_is_kept(trainer, small_project):
    from workbench.runs.home import data_home

    store = SettingsStore(data_home())
    store.change(**{KEEPS_CHECKPOINTS.param.key: False})
    store.close()
    training = trainer(small_project(**RECIPE, epochs=1))
    training.finish()
    assert not training.all(CheckpointKept)  # none was written for nothing
    assert read_checkpoint(training.run) is None
    assert not training.run.checkpoints_path.exists()
    assert training.run.has_model()
    assert not outcome_of(training.run).can_train_longer
