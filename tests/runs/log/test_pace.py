"""Steady figures of a run: speed, time left, elapsed time, where the time went."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np
import pytest

from workbench.protocol.events import (
    Batch,
    DataReady,
    EpochFinished,
    PhaseChanged,
    Plan,
    RunFinished,
    RunStarted,
    TimeSpent,
)
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.pace import Countdown, Pace, TimeLeft, left_words


def batch(first, steps, speed, *, time=0.0):
    return Batch(
        epoch=1, step=first + steps - 1, first_step=first, loss=1.0, accuracy=0.5,
        losses=[1.0] * steps, accuracies=[0.5] * steps, images_per_second=speed, time=time,
    )  # fmt: skip


def started(time, at=None, epochs=40):
    return RunStarted(
        run="r", target="t", precision="float32", seed=1, versions={}, epochs=epochs, pid=1,
        plan=Plan(precision="float32"), batch_size=100, resumed_at_step=at, time=time,
    )  # fmt: skip


def data(time=0.0):
    return DataReady(
        class_names=["a"], num_train=1000, num_validation=100, num_test=10, steps_per_epoch=10,
        time=time,
    )  # fmt: skip


def epoch(number, seconds, time=0.0):
    return EpochFinished(
        epoch=number, step=number * 10, loss=1.0, accuracy=0.5, val_loss=1.0, val_accuracy=0.5,
        seconds=seconds, images_per_second=1.0, time=time,
    )  # fmt: skip


def spent(seconds, advice="", time=0.0):
    return TimeSpent(
        input_s=seconds, compute_s=2 * seconds, host_s=0.0, compile_s=1.0, validation_s=0.0,
        saving_s=0.0, advice=advice, time=time,
    )  # fmt: skip


def test_the_speed_is_that_of_seconds_of_steps_not_of_the_latest_call():
    pace, shown = Pace(), []
    for call in range(200):  # every fifth call is ten times slower
        pace.add(batch(1 + call * 10, 10, 1_000.0 if call % 5 == 0 else 10_000.0), 100)
        shown.append(pace.images_per_second)
    assert pace.images_per_second == pytest.approx(5_000 / 1.4, rel=0.05)
    assert max(shown[50:]) < 1.1 * min(shown[50:])


def test_a_call_that_compiles_has_no_speed():
    pace = Pace()
    pace.add(batch(1, 8, 0.0), 100)
    assert pace.images_per_second is None
    pace.add(batch(9, 8, 500.0), 100)
    assert pace.images_per_second == pytest.approx(500.0)


def test_a_change_of_speed_is_seen_within_half_a_minute_of_steps():
    pace = Pace()
    for call in range(100):
        pace.add(batch(1 + call, 1, 1_000.0), 1_000)
    for call in range(25):
        pace.add(batch(101 + call, 1, 500.0), 1_000)
    assert pace.images_per_second == pytest.approx(500.0)


def test_the_time_left_is_steady_where_epochs_are_not():
    """Epochs between 6 and 13 s, as on a computer with other work."""
    history, rng = MetricHistory(), np.random.default_rng(4)
    history.add_all([started(0.0), data()])
    countdown, now, shown = Countdown(), 0.0, []
    for number in range(1, 41):
        seconds = float(rng.uniform(6.0, 13.0))
        for tenth in range(1, 11):
            now += seconds / 10
            history.add(batch(number * 10 - 10 + tenth, 1, 3_000.0, time=now))
            if number > 5:
                shown.append(countdown.shown(history.progress.left.seconds, now))
        history.add(epoch(number, seconds, now))
    wanted = np.linspace(shown[0], 0.0, len(shown))
    assert np.abs(np.array(shown) - wanted).max() < 0.2 * shown[0]
    assert max(after - before for before, after in pairwise(shown)) < 3.0
    assert shown[-1] < 10.0


def test_the_first_epoch_s_time_left_knows_of_validations():
    history = MetricHistory()
    history.add_all([started(0.0, epochs=2), data(), batch(1, 1, 0.0)])
    assert history.progress.left is None
    history.add(batch(2, 3, 1_000.0))
    assert history.progress.left.seconds == pytest.approx((16 * 100 + 2 * 35) / 1_000.0)


def test_the_epoch_that_compiles_says_nothing_of_the_others():
    history = MetricHistory()
    history.add_all([started(0.0), data(), batch(1, 1, 0.0), batch(2, 9, 1_000.0)])
    history.add(epoch(1, 60.0, 60.0))
    assert history.progress.left.seconds == pytest.approx((390 * 100 + 39 * 35) / 1_000.0)
    history.add_all([batch(11, 10, 1_000.0), epoch(2, 1.5, 61.5)])
    assert history.progress.left.seconds == pytest.approx(38 * 1.5)


def test_the_time_left_after_a_resume_is_that_of_the_new_trainer():
    """Epochs of 2 s before the pause, of 6 s after it."""
    history = MetricHistory()
    history.add_all([PhaseChanged(phase="starting", text="", time=1.0), started(2.0), data()])
    history.add_all([epoch(number, 2.0, 2.0 + 2 * number) for number in range(1, 5)])
    assert history.progress.left.seconds == pytest.approx(40 * 2.0)
    finished = RunFinished(outcome="stopped", run="r", seconds=9.0, epochs_done=4, is_paused=True)
    history.add_all([batch(31, 15, 5_000.0), finished])
    history.add(PhaseChanged(phase="starting", text="Resuming", time=900.0))
    assert history.is_resuming
    assert history.progress.left is None, "no countdown before a step is made"
    history.add(started(930.0, at=45))
    assert history.progress.left is None
    history.add(batch(46, 5, 10 * 100 / 6.0, time=933.0))
    by_speed = (350 * 100 + 35 * 35) / (10 * 100 / 6.0)
    assert history.progress.left.seconds == pytest.approx(by_speed)
    history.add(epoch(5, 3.5, 933.5))  # half of it was made before
    assert history.progress.left.seconds == pytest.approx(by_speed)
    history.add_all([batch(51, 10, 10 * 100 / 6.0, time=939.0), epoch(6, 6.0, 939.5)])
    assert history.progress.left.seconds == pytest.approx(34 * 6.0)


def test_a_countdown_takes_at_once_what_is_far_off():
    """The first epoch compiles, and behind the last step nothing is left."""
    countdown = Countdown()
    assert countdown.shown(3314.0, 0.0) == 3314.0
    assert countdown.shown(160.0, 1.0) == 160.0
    assert countdown.shown(0.0, 2.0) == 0.0
    assert countdown.shown(900.0, 3.0) == 900.0


def test_a_countdown_counts_down_and_follows_slowly():
    countdown = Countdown()
    assert countdown.shown(100.0, 50.0) == 100.0
    assert countdown.shown(90.0, 60.0) == pytest.approx(90.0)
    assert 90.0 < countdown.shown(300.0, 61.0) < 105.0
    last = 0.0
    for second in range(62, 150):
        last = countdown.shown(300.0, float(second))
    assert last == pytest.approx(300.0, abs=16.0)
    countdown.clear()
    assert countdown.shown(7.0, 1.0) == 7.0


def elapsed(history, *events):
    """The elapsed time after each event."""
    found = []
    for event in events:
        history.add(event)
        found.append(history.elapsed_s)
    return found


def test_elapsed_time_never_falls_when_a_paused_run_is_resumed():
    history = MetricHistory()
    finished = RunFinished(
        outcome="stopped", run="r", seconds=280.0, epochs_done=1, is_paused=True, time=1_280.0
    )
    seconds = elapsed(
        history,
        PhaseChanged(phase="starting", text="Starting", time=1_000.0),
        started(1_010.0),
        batch(1, 10, 1.0, time=1_274.0),
        finished,
        PhaseChanged(phase="starting", text="Resuming", time=9_000.0),
        PhaseChanged(phase="loading", text="Loading", time=9_020.0),
        started(9_030.0, at=10),
        batch(11, 10, 1.0, time=9_040.0),
    )
    assert seconds == [0.0, 10.0, 274.0, 280.0, 280.0, 280.0, 280.0, 290.0]
    assert not history.is_resuming
    assert history.curves.batch_times.tolist() == [274.0, 284.0]  # the void part is not drawn


def test_elapsed_time_never_falls_when_a_killed_run_goes_on_from_its_checkpoint():
    history = MetricHistory()
    seconds = elapsed(
        history,
        PhaseChanged(phase="starting", text="Starting", time=1_000.0),
        started(1_000.0),
        batch(1, 10, 1.0, time=1_100.0),
        batch(11, 10, 1.0, time=1_160.0),  # killed here; the last checkpoint is at step 10
        PhaseChanged(phase="starting", text="Resuming", time=5_000.0),
        started(5_005.0, at=10),
        batch(11, 10, 1.0, time=5_065.0),
    )
    assert seconds == [0.0, 0.0, 100.0, 160.0, 160.0, 160.0, 220.0]


def test_where_the_time_went_counts_all_trainers_of_a_run():
    history = MetricHistory()
    history.add_all([started(1.0), spent(3.0), spent(5.0, "first")])
    assert history.time_spent.input_s == 5.0
    history.add_all([started(9.0, at=0), spent(1.0, "second")])
    assert history.time_spent.input_s == 6.0
    assert history.time_spent.compute_s == 12.0
    assert history.time_spent.compile_s == 2.0
    assert history.time_spent.advice == "second"
    history.add(spent(2.0))
    assert history.time_spent.input_s == 7.0


def two_phases():
    """A head of two epochs of 0.1 s, three of fine-tuning to follow."""
    history = MetricHistory()
    history.add_all([msgspec.structs.replace(started(0.0, epochs=5), fine_tuning_after=2), data()])
    history.add_all([batch(1, 10, 10_000.0), epoch(1, 0.1)])
    return history


def test_the_time_left_of_the_head_ends_where_fine_tuning_begins():
    history = two_phases()
    assert history.progress.left == TimeLeft(pytest.approx(0.1), is_of_head=True)
    assert left_words(TimeLeft(7.2, is_of_head=True)) == "7 s to fine-tuning"
    assert left_words(TimeLeft(892.0)) == "14 min 52 s left"


def test_the_time_left_of_fine_tuning_does_not_come_from_the_head():
    """Its epochs take a hundred times as long: the whole network is computed."""
    history = two_phases()
    history.add_all([batch(11, 10, 10_000.0), epoch(2, 0.1)])
    assert history.progress.left is None
    history.add(batch(21, 1, 0.0))  # it compiles
    assert history.progress.left is None
    history.add(batch(22, 9, 100.0))
    assert history.progress.left == TimeLeft(pytest.approx((20 * 100 + 2 * 35) / 100.0))
    history.add_all([epoch(3, 10.0), batch(31, 5, 100.0)])
    assert history.progress.left == TimeLeft(pytest.approx(15 * 10.0 / 10))


def test_nothing_is_known_of_the_time_left_while_fine_tuning_is_prepared():
    """Early stopping has ended the head: its other epochs are left out."""
    history = two_phases()
    history.add(PhaseChanged(phase="building", text="Preparing fine-tuning"))
    assert history.progress.left is None
    history.add(PhaseChanged(phase="features", text="Computing features", fraction=0.5))
    assert history.progress.left is None
    history.add_all([batch(21, 10, 100.0), PhaseChanged(phase="training", text="Epoch 3 of 5")])
    assert history.progress.left == TimeLeft(pytest.approx((20 * 100 + 2 * 35) / 100.0))


def test_a_run_resumed_in_fine_tuning_has_the_time_left_of_fine_tuning():
    history = two_phases()
    again = msgspec.structs.replace(started(9.0, at=20, epochs=5), fine_tuning_after=2)
    history.add_all([batch(11, 10, 10_000.0), epoch(2, 0.1), again, batch(21, 10, 100.0)])
    assert history.progress.left == TimeLeft(pytest.approx((20 * 100 + 2 * 35) / 100.0))
