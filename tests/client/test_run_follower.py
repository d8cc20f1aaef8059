"""A follower reads what a run said, before and after it began to follow."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tests.written_runs import WrittenRun
from workbench.client.run_follower import (
    EVENTS_AT_ONCE,
    FIRST_POLL_INTERVAL_MS,
    POLL_INTERVAL_MS,
    RunFollower,
)
from workbench.protocol.events import Batch, EpochFinished, RunStarted
from workbench.runs.log.event_log import EventReader


@pytest.fixture
def follow(qtbot):
    followers = []

    def start(folder):
        follower = RunFollower(folder)
        followers.append(follower)
        with qtbot.waitSignal(follower.loaded):
            follower.start()
        return follower

    yield start
    for follower in followers:
        follower.close()


@pytest.fixture
def written():
    runs = []

    def make(**keywords):
        runs.append(WrittenRun(**keywords))
        return runs[-1]

    yield make
    for run in runs:
        run.end()


def test_a_finished_run_is_there_at_once(follow, written):
    run = written().begin().train(3).finish()
    follower = follow(run.folder)
    assert follower.history.losses.tolist() == run.losses
    assert len(follower.history.epochs) == 3
    assert follower.is_over
    assert follower.outcome.kind == "completed"
    assert not any(isinstance(event, Batch) for event in follower.notes)
    assert isinstance(follower.notes[0], RunStarted)


def test_later_events_arrive_in_order_and_are_in_the_history(qtbot, follow, written):
    run = written().begin()
    follower = follow(run.folder)
    arrived = []
    follower.events_arrived.connect(arrived.extend)
    run.batches([3.0, 2.0, 1.0])
    run.epoch(1)
    qtbot.waitUntil(lambda: len(arrived) == 2)
    assert [type(event) for event in arrived] == [Batch, EpochFinished]
    assert follower.history.losses.tolist() == [3.0, 2.0, 1.0]
    assert follower.outcome.kind == "running"


def test_the_log_is_polled_less_often_once_there_is_a_batch(qtbot, follow, written):
    run = written().begin()
    follower = follow(run.folder)
    assert follower._poll.interval() == FIRST_POLL_INTERVAL_MS
    run.batches([3.0])
    qtbot.waitUntil(lambda: len(follower.history.steps) == 1)
    qtbot.waitUntil(lambda: follower._poll.interval() == POLL_INTERVAL_MS)


def test_a_loss_that_is_not_finite_stays_a_gap(follow, written):
    run = written().begin()
    run.batches([1.0, None, 2.0])
    run.finish()
    losses = follow(run.folder).history.losses
    assert np.isnan(losses[1])
    assert losses[[0, 2]].tolist() == [1.0, 2.0]


def test_the_end_is_signaled_once_after_everything_has_arrived(qtbot, follow, written):
    run = written().begin()
    follower = follow(run.folder)
    outcomes = []
    follower.outcome_changed.connect(
        lambda outcome: outcomes.append((outcome.kind, len(follower.history.epochs)))
    )
    run.train(2).finish()
    qtbot.waitUntil(lambda: follower.is_over)
    assert [pair for pair in outcomes if pair[0] == "completed"] == [("completed", 2)]


def test_a_trainer_that_dies_is_reported_with_its_last_lines_and_nothing_is_lost(
    qtbot, follow, written
):
    run = written().begin()
    run.batches([1.0, 0.5])
    follower = follow(run.folder)
    run.folder.log_path.write_text("loading\nlast words\n")
    run.end()
    qtbot.waitUntil(lambda: follower.is_over)
    assert follower.outcome.kind == "died"
    assert follower.outcome.log_tail[-1] == "last words"
    assert follower.outcome.sentence()
    assert follower.history.losses.tolist() == [1.0, 0.5]


def test_a_million_batches_are_read_in_another_thread(qtbot, follow, written, monkeypatch):
    run = written().begin()
    for _ in range(100):
        run.batches([0.5] * 10_000)
    run.finish()
    threads = set()
    read_new = EventReader.read_new

    def spy(reader, *args):
        threads.add(threading.current_thread() is threading.main_thread())
        return read_new(reader, *args)

    monkeypatch.setattr("workbench.runs.log.event_log.EventReader.read_new", spy)
    follower = follow(run.folder)
    assert threads == {False}
    assert len(follower.history.losses) == 1_000_000
    assert follower.history.steps[-1] == 1_000_000


def test_a_flood_is_taken_in_a_few_milliseconds_at_a_time(qtbot, follow, written, monkeypatch):
    run = written().begin()
    follower = follow(run.folder)
    clock = iter(range(1_000_000))
    # Each look at the clock is a second later: a few events use up the whole time.
    monkeypatch.setattr("workbench.client.run_follower.perf_counter", lambda: next(clock))
    monkeypatch.setattr("workbench.client.run_follower.BUDGET_MS", 1500)
    portions = []
    follower.events_arrived.connect(lambda events: portions.append(len(events)))
    for number in range(300):
        run.batches([float(number)])
    qtbot.waitUntil(lambda: sum(portions) == 300)
    assert max(portions) == EVENTS_AT_ONCE
    assert follower.history.losses.tolist() == [float(n) for n in range(300)]


def test_closing_while_a_log_is_read_is_quiet(qtbot, written):
    run = written().begin().train(5)
    follower = RunFollower(run.folder)
    loads = []
    follower.loaded.connect(lambda: loads.append(1))
    follower.start()
    follower.close()
    qtbot.wait(0)  # what was posted before close() is delivered, and passed over
    assert loads == []
