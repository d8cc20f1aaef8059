from __future__ import annotations

import math

import numpy as np

from workbench.protocol.events import Batch, EpochFinished
from workbench.runs.history import MetricHistory, best_epoch


def test_a_run_is_taken_in(run, events):
    history = MetricHistory()
    history.add_all(events(run))
    assert history.steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert history.losses[0] == 2.0
    assert math.isnan(history.losses[1])
    assert history.accuracies.tolist() == [0.1, 0.2, 0.5] * 2
    assert history.class_names == ["a", "b"]
    assert history.best.epoch == 1
    assert history.progress.fraction == 1.0
    assert history.progress.eta_s == 0.0
    assert history.elapsed_s == 1.5


def test_progress_half_way(run, events):
    history = MetricHistory()
    assert history.progress.fraction == 0.0
    assert history.progress.eta_s is None
    history.add_all(list(events(run))[:3])
    progress = history.progress
    assert (progress.step, progress.total_steps, progress.epoch, progress.epochs) == (3, 6, 1, 2)
    assert progress.fraction == 0.5
    assert progress.eta_s == 3 * 10 / 100.0
    assert progress.images_per_second == 100.0


def test_progress_is_below_one_until_completed(run, events):
    history = MetricHistory()
    history.add_all(list(events(run))[:-1])
    assert history.progress.fraction < 1.0


def test_a_million_batches():
    history = MetricHistory()
    values = [0.5] * 1000
    for start in range(1, 1_000_001, 1000):
        history.add(
            Batch(
                epoch=1,
                step=start + 999,
                loss=0.5,
                accuracy=0.5,
                images_per_second=1.0,
                first_step=start,
                losses=values,
                accuracies=values,
            )
        )
    assert len(history.steps) == len(history.losses) == len(history.accuracies) == 1_000_000
    assert np.array_equal(history.steps, np.arange(1, 1_000_001))


def test_views_cannot_be_written(run, events):
    history = MetricHistory()
    history.add_all(events(run))
    assert not history.losses.flags.writeable


def epoch(number, accuracy, val_accuracy, val_loss=None):
    return EpochFinished(
        epoch=number, step=number, loss=1.0, accuracy=accuracy, val_loss=val_loss,
        val_accuracy=val_accuracy, seconds=1.0, images_per_second=1.0,
    )  # fmt: skip


def test_best_epoch_is_the_earliest_of_equals_and_falls_back_to_training():
    assert best_epoch([]) is None
    assert best_epoch([epoch(1, 0.9, 0.5), epoch(2, 0.1, 0.6), epoch(3, 0.1, 0.6)]).epoch == 2
    assert best_epoch([epoch(1, 0.5, None), epoch(2, 0.7, None)]).epoch == 2
    assert best_epoch([epoch(1, None, None)]) is None


def test_of_epochs_with_equal_accuracy_the_lowest_loss_is_best():
    equal = [epoch(1, 0.2, 0.2, 1.61), epoch(2, 0.2, 0.2, 1.5), epoch(3, 0.9, 0.2, 1.55)]
    assert best_epoch(equal).epoch == 2
