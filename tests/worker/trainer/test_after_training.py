"""What follows the last step: weights that can be used at once, phases that can be skipped, and time
that is no part of the epochs.
"""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from tests.worker.conftest import ENDLESS, stripes
from workbench.inference.onnx_runner import load_onnx_runner
from workbench.protocol.events import (
    CheckpointKept,
    EpochFinished,
    LogLine,
    PhaseChanged,
    RunFinished,
    TimeSpent,
)
from workbench.runs.control import request_skip, request_stop, take_request
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.pace import AFTER_TRAINING

pytestmark = pytest.mark.worker

SLOW = [("rescaling", {}), ("conv2d", {"filters": 64, "kernel_size": (3, 3)}), ("relu", {})]
SLOW += [("conv2d", {"filters": 64, "kernel_size": (3, 3)}), ("relu", {})]


@pytest.fixture(scope="module")
def much_to_test(tmp_path_factory):
    """Few images to train on, many to test on."""
    (x_train, y_train), (x_test, y_test) = stripes(300, 1), stripes(40_000, 2)
    path = tmp_path_factory.mktemp("data") / "much.npz"
    np.savez(path, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)
    return path


def wait_for_phase(training, name):
    """The events of a phase, as soon as it has one; the trainer is then held for a moment."""
    while not (found := [e for e in training.all(PhaseChanged) if e.phase == name]):
        training.wait_for(PhaseChanged, count=len(training.all(PhaseChanged)) + 1)
    return found


def skipped(training):
    return [e.text for e in training.all(LogLine) if e.text.startswith("Skipped")]


@pytest.mark.full_but("signal")
@pytest.mark.parametrize("how", ["skip", "signal"])
def test_after_a_stop_the_weights_are_there_and_the_test_can_be_skipped(
    trainer, small_project, much_to_test, how
):
    recipe = {**ENDLESS, "validation": "split"}
    training = trainer(small_project(*SLOW, data=much_to_test, **recipe))
    training.wait_for(EpochFinished)
    request_stop(training.run)
    (phase, *_) = wait_for_phase(training, "testing")
    assert phase.can_skip
    assert phase.fraction is not None
    # What the stop has saved classifies while the test goes on.
    assert load_onnx_runner(training.run.path).outputs(np.zeros((1, 8, 8, 1), np.uint8))
    if how == "skip":
        request_skip(training.run)
    else:
        os.kill(training.pid, signal.SIGTERM)
    finished = training.finish()
    assert skipped(training) == ["Skipped: evaluating on the test set."]
    assert (finished.outcome, finished.test) == ("stopped", None)
    assert finished.kept is not None
    assert training.all(CheckpointKept)[-1].epoch == finished.epochs_done
    assert take_request(training.run) is None  # it was taken once


@pytest.mark.full
def test_a_stop_behind_the_last_epoch_ends_all_that_follows_and_the_run_is_completed(
    trainer, small_project, much_to_test
):
    training = trainer(small_project(*SLOW, data=much_to_test, epochs=1, validation="split"))
    wait_for_phase(training, "testing")
    request_stop(training.run)
    finished = training.finish()
    assert finished.outcome == "completed"
    assert finished.test is None
    assert skipped(training)


@pytest.mark.full
def test_what_follows_a_stop_is_left_out_at_once_for_a_run_that_waits(
    trainer, small_project, much_to_test
):
    training = trainer(
        small_project(*SLOW, data=much_to_test, **{**ENDLESS, "validation": "split"})
    )
    training.wait_for(EpochFinished)
    request_stop(training.run)
    wait_for_phase(training, "calibrating")
    request_skip(training.run, is_all=True)
    finished = training.finish()
    assert (finished.outcome, finished.test) == ("stopped", None)
    assert "Skipped: evaluating on the test set." in skipped(training)
    assert finished.kept is not None


@pytest.mark.full
def test_a_skip_before_the_end_skips_nothing(trainer, small_project):
    training = trainer(small_project(**ENDLESS))
    training.wait_for(EpochFinished)
    request_skip(training.run)
    training.wait_for(EpochFinished, count=3)
    request_stop(training.run)  # in the place of the other
    finished = training.finish()
    assert finished.test is not None
    assert not skipped(training)


def test_the_phases_behind_the_last_step_have_progress_and_are_no_part_of_the_epochs(
    train_here, small_project, much_to_test
):
    trained = train_here(small_project(*SLOW, data=much_to_test, epochs=1, validation="split"))
    phases = [event for event in trained.all(PhaseChanged) if event.phase in AFTER_TRAINING]
    assert {event.phase for event in phases} == AFTER_TRAINING
    assert "Checking the saved model" in [event.text for event in phases]
    testing = [event.fraction for event in phases if event.phase == "testing"]
    assert len(set(testing)) > 5
    history, left = MetricHistory(), []
    for event in trained.events:
        history.add(event)
        if event in phases:
            assert history.progress.left is None  # and not "0 s left"
            left.append(history.phase_progress.left_s)
    assert any(left)
    spent, epoch = trained.all(TimeSpent)[-1], trained.all(EpochFinished)[-1]
    # The test takes many times as long as the epoch with its validation.
    assert spent.after_s > epoch.seconds > spent.validation_s
    # What Compare calls training time and the test, by the times of the events alone.
    first, last = trained.events[0].time, trained.events[-1].time
    begins = next(event.time for event in trained.events if event in phases)
    assert history.training_s == pytest.approx(begins - first)
    assert history.after_s == pytest.approx(last - begins)
    assert history.after_s == pytest.approx(spent.after_s, rel=0.25)  # as the trainer has booked it
    assert not trained.all(RunFinished)  # it is logged by the process, not by the training
