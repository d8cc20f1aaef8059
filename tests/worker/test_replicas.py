"""Trainings on several replicas, told by their target alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workbench.core.project import Choice
from workbench.protocol.events import EpochFinished, RunFinished, RunStarted
from workbench.runs.control import ask_to_pause
from workbench.runs.event_log import read_all
from workbench.runs.history import MetricHistory
from workbench.runs.start import start_trainer
from workbench.runs.weights_file import read_arrays

pytestmark = pytest.mark.worker

NETWORK = [
    ("random_flip", {}),
    ("rescaling", {}),
    ("conv2d", {"filters": 4}),
    ("dropout", {"rate": 0.2}),
]


def on_two(project):
    return replace(project, target=Choice("virtual", {"replicas": 2}))


def curves_of(run):
    history = MetricHistory()
    history.add_all(read_all(run.events_path))
    epochs = [(e.epoch, e.loss, e.val_loss, e.val_accuracy) for e in history.epochs]
    return history.losses.tolist(), epochs


def test_a_paused_run_on_two_replicas_ends_as_if_it_had_not_been(trainer, small_project):
    recipe = {
        "epochs": 4,
        "steps_per_epoch": 150,
        "schedule": "cosine",
        "validation": "split",
        "learning_rate": 0.01,
        "ema_decay": 0.9,
        "batch_size": 51,
    }
    whole, paused = (trainer(on_two(small_project(*NETWORK, **recipe))) for _ in range(2))
    paused.wait_for(EpochFinished)
    ask_to_pause(paused.run)
    assert paused.wait_for(RunFinished)[0].is_paused
    paused.wait_for_end()
    paused.pid = start_trainer(paused.run, resume=True)
    last = paused.wait_for(RunFinished, count=2)[-1]
    whole.finish()

    first, second = paused.all(RunStarted)
    assert (first.target, first.replicas, first.batch_size) == ("virtual", 2, 50)
    assert (second.replicas, second.bit_exact) == (2, True)
    assert second.resumed_at_step >= 150
    assert last.outcome == "completed"
    assert curves_of(whole.run) == curves_of(paused.run)
    left, right = read_arrays(whole.run.weights_path), read_arrays(paused.run.weights_path)
    for name in left:
        np.testing.assert_array_equal(left[name], right[name])
