from __future__ import annotations

import math
import tracemalloc

import msgspec
import numpy as np
import pytest

from workbench.curves.learning_rate import SPEC as RATE
from workbench.protocol.events import (
    Batch,
    BestEpoch,
    EpochFinished,
    PhaseChanged,
    Plan,
    RunFinished,
    RunStarted,
)
from workbench.runs.log.history import MetricHistory, PhaseProgress


def test_a_run_is_taken_in(run, events):
    history = MetricHistory()
    history.add_all(events(run))
    assert history.steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert history.losses[0] == 2.0
    assert math.isnan(history.losses[1])
    assert history.accuracies.tolist() == np.float32([0.1, 0.2, 0.5] * 2).tolist()
    assert history.class_names == ["a", "b"]
    assert history.best.epoch == 1
    assert history.progress.fraction == 1.0
    assert history.progress.left.seconds == 0.0
    assert history.elapsed_s == 1.5


def test_progress_half_way(run, events):
    history = MetricHistory()
    assert history.progress.fraction == 0.0
    assert history.progress.left is None
    history.add_all(list(events(run))[:3])
    progress = history.progress
    assert (progress.step, progress.total_steps, progress.epoch, progress.epochs) == (3, 6, 1, 2)
    assert progress.fraction == 0.5
    assert (
        progress.left.seconds == (3 * 10 + 2 * 1) / 100.0
    )  # two validations of 3 images, a third each
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


def started(at=None, batch_size=10, **fields):
    return RunStarted(
        run="r", target="t", precision="float32", seed=1, versions={}, plan=Plan(precision="x"),
        epochs=2, batch_size=batch_size, pid=1, resumed_at_step=at,
        **fields,
    )  # fmt: skip


def batch(first, losses, *, time=0.0, rate=None):
    return Batch(
        epoch=1, step=first + len(losses) - 1, first_step=first, loss=losses[-1], accuracy=0.5,
        losses=losses, accuracies=[0.5] * len(losses), images_per_second=10.0,
        learning_rate=rate, time=time,
    )  # fmt: skip


def test_adding_at_once_is_adding_one_by_one(run, events):
    logged = [*events(run), *(batch(step, [1.0 / step] * 3, time=float(step)) for step in (7, 10))]
    once, each = MetricHistory(), MetricHistory()
    once.add_all(logged)
    for event in logged:
        each.add(event)
    for name in ("steps", "losses", "accuracies", "times"):
        np.testing.assert_array_equal(getattr(once, name), getattr(each, name))
    for name in ("batch_steps", "batch_times", "epochs", "epoch_steps"):
        np.testing.assert_array_equal(getattr(once.curves, name), getattr(each.curves, name))
    assert (once.num_events, once.last_seq, once.progress) == (
        each.num_events, each.last_seq, each.progress,
    )  # fmt: skip


def test_rates_and_times_of_the_batches_come_from_their_events():
    history = MetricHistory()
    history.add_all([batch(1, [1.0] * 2, time=10.0, rate=0.5), batch(3, [1.0] * 4, time=14.0)])
    assert history.curves.values(RATE)[:2].tolist() == [0.5, 0.5]
    assert np.isnan(history.curves.values(RATE)[2:]).all()
    assert history.times.tolist() == [0.0, 0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_clock_set_back_does_not_turn_time_back():
    history = MetricHistory()
    history.add_all(batch(step, [1.0], time=time) for step, time in ((1, 5.0), (2, 9.0), (3, 6.0)))
    assert history.curves.batch_times.tolist() == [0.0, 4.0, 4.0]


def test_a_resumed_run_rewinds_and_leaves_the_pause_out_of_its_time():
    history = MetricHistory()
    history.add_all([started(), batch(1, [9.0] * 4, time=100.0, rate=1.0)])
    history.add(batch(5, [8.0] * 4, time=104.0, rate=1.0))
    drawn = history.losses
    again = msgspec.structs.replace(started(4), time=8998.0)
    history.add_all([again, batch(5, [7.0] * 2, time=9000.0, rate=0.5)])
    history.add(batch(7, [6.0] * 2, time=9001.0, rate=0.5))
    assert history.losses.tolist() == [9.0] * 4 + [7.0] * 2 + [6.0] * 2
    assert history.steps.tolist() == list(range(1, 9))
    assert history.curves.batch_times.tolist() == [0.0, 2.0, 3.0]
    assert history.curves.values(RATE).tolist() == [1.0] * 4 + [0.5] * 4
    assert history.num_rewinds == 1
    assert history.elapsed_s == 4.0 + 3.0  # the steps that are void took their time, too
    assert drawn.tolist() == [9.0] * 4 + [8.0] * 4


def test_an_epoch_logged_twice_counts_once():
    history = MetricHistory()
    history.add_all([started(), epoch(1, 0.5, 0.5), epoch(2, 0.6, 0.6), started(2)])
    assert [event.epoch for event in history.epochs] == [1, 2]
    history.add(epoch(2, 0.6, 0.6))
    assert [event.epoch for event in history.epochs] == [1, 2]


def test_what_comes_behind_a_finish_is_of_a_trainer_that_went_on():
    history = MetricHistory()
    ended = RunFinished(outcome="stopped", run="r", seconds=5.0, epochs_done=1)
    history.add_all([started(), ended])
    assert history.finished == ended
    history.add(PhaseChanged(phase="starting", text="Resuming", time=50.0))
    assert history.finished is None


def test_a_million_batches_are_small_in_memory():
    history = MetricHistory()
    tracemalloc.start()
    try:
        for first in range(1, 1_000_001, 1000):
            history.add(batch(first, [0.5] * 1000, time=float(first)))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(history.steps) == 1_000_000
    assert held < 20_000_000


def test_views_cannot_be_written(run, events):
    history = MetricHistory()
    history.add_all(events(run))
    assert not history.losses.flags.writeable


def epoch(number, accuracy, val_accuracy, val_loss=None):
    return EpochFinished(
        epoch=number, step=number, loss=1.0, accuracy=accuracy, val_loss=val_loss,
        val_accuracy=val_accuracy, seconds=1.0, images_per_second=1.0,
    )  # fmt: skip


def best_of(epochs, **start):
    history = MetricHistory()
    history.add_all([started(**start), *epochs])
    return history.best.epoch if history.best is not None else None


def test_best_epoch_is_the_earliest_of_equals_and_falls_back_to_training():
    assert best_of([]) is None
    assert best_of([epoch(1, 0.9, 0.5), epoch(2, 0.1, 0.6), epoch(3, 0.1, 0.6)]) == 2
    assert best_of([epoch(1, 0.5, None), epoch(2, 0.7, None)]) == 2
    assert best_of([epoch(1, None, None)]) is None


def test_of_epochs_with_equal_accuracy_the_lowest_loss_is_best():
    equal = [epoch(1, 0.2, 0.2, 1.61), epoch(2, 0.2, 0.2, 1.5), epoch(3, 0.9, 0.2, 1.55)]
    assert best_of(equal) == 2


def test_the_best_epoch_is_the_one_that_the_recipe_keeps():
    """As the trainer judges; a log that does not say how is read as before."""
    epochs = [epoch(1, 0.5, 0.6, 0.4), epoch(2, 0.5, 0.9, 0.7)]
    assert best_of(epochs) == 2
    assert best_of(epochs, keep_by="val_loss") == 1
    assert best_of(epochs, keep_by="of a later version") == 2


def test_a_finished_run_names_its_best_epoch_itself():
    history = MetricHistory()
    history.add_all([started(), epoch(1, 0.5, 0.6), epoch(2, 0.5, 0.9)])
    best = BestEpoch(epoch=1, val_accuracy=0.6, val_loss=None)
    history.add(RunFinished(outcome="completed", run="r", seconds=1.0, epochs_done=2, best=best))
    assert history.best == best
    history.add(started(at=2))
    assert history.best.epoch == 2


def test_the_best_of_void_epochs_is_void():
    history = MetricHistory()
    history.add_all([started(), epoch(1, 0.5, 0.6), epoch(2, 0.5, 0.9)])
    history.add(epoch(2, 0.5, 0.5))
    assert history.best.epoch == 1
    history.add_all([epoch(3, 0.5, 0.8), started(at=2)])
    assert history.best.epoch == 1


def phase(name, fraction, time, text=""):
    return PhaseChanged(phase=name, text=text or name, fraction=fraction, time=time)


def test_bar_and_time_left_follow_a_phase_that_is_no_part_of_an_epoch(run, events):
    history = MetricHistory()
    texts = [f"Computing features of training images: {done} of 720" for done in (0, 180, 360)]
    fractions = (0.0, 0.25, 0.5)
    assert history.phase_progress is None
    for text, fraction, time in zip(texts, fractions, (100.0, 105.0, 110.0), strict=True):
        history.add(phase("features", fraction, time, text))
    assert history.phase_progress == PhaseProgress(0.5, 10.0)
    history.add(phase("features", 0.0, 120.0))  # of the next images
    assert history.phase_progress == PhaseProgress(0.0)
    history.add(phase("features", 0.1, 121.0))
    assert history.phase_progress.left_s == pytest.approx(9.0)
    history.add(phase("training", None, 130.0))
    assert history.phase_progress is None
    assert not history.is_after_training
    history.add_all(list(events(run))[:-1])
    history.add(phase("testing", 0.99, 140.0))
    assert history.is_after_training
    assert history.phase_progress == PhaseProgress(0.99)  # and no "0 s left"
    assert history.progress.left is None
    history.add(list(events(run))[-1])
    assert not history.is_after_training
    assert history.phase_progress is None


def test_a_loss_beyond_single_precision_is_infinite_without_a_warning():
    history = MetricHistory()
    losses = [1e308, -1e308, 0.5]
    batch = Batch(
        epoch=1, step=3, first_step=1, loss=0.5, accuracy=0.5, losses=losses,
        accuracies=[0.5, 0.5, 0.5], images_per_second=1.0,
    )  # fmt: skip
    history.add_all([batch])
    assert history.losses.tolist() == [math.inf, -math.inf, 0.5]
