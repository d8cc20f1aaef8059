"""Real trainers, one after another, without a window; and what stands beside their runs."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from workbench.protocol.events import Batch, EpochFinished, RunFinished, RunStarted
from workbench.runs.control import ask_to_pause
from workbench.runs.folder import create_run
from workbench.runs.library.index import list_runs
from workbench.runs.log.event_log import read_all
from workbench.runs.start import start_trainer
from workbench.runs.state import queue
from workbench.runs.state.outcome import outcome_of

pytestmark = [pytest.mark.worker, pytest.mark.timeout(900)]

_PATIENCE_S = 280.0
"""Three trainers begin one after another, on a machine that may do much else."""


def until(condition):
    deadline = time.monotonic() + _PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline, [outcome_of(run) for run in queue._folders(_home())]
        time.sleep(0.02)
    return found


def _home():
    return queue.runs_home()


@pytest.fixture(autouse=True)
def _nothing_is_left():
    yield
    for run in queue._folders(_home()):
        (run.path / queue.MARKER_NAME).unlink(missing_ok=True)
    for run in queue._folders(_home()):
        if run.is_alive():
            os.kill(until(lambda run=run: trainer_of(run)), signal.SIGKILL)
            until(lambda run=run: not run.is_alive())


def told(run, kind):
    return [event for event in read_all(run.events_path) if isinstance(event, kind)]


def trainer_of(run):
    """The process that trains a run, though it has not said a word yet; None before it is
    there: the run is locked a moment earlier."""
    word = os.fsencode(run.path)
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"train" in words and word in words:
            return int(path.parent.name)
    return None


def environment_of(pid):
    data = Path(f"/proc/{pid}/environ").read_bytes().decode()
    return dict(entry.split("=", 1) for entry in data.split("\0") if "=" in entry)


def test_three_runs_one_after_another_and_a_failing_one_between(small_project):
    first = create_run(small_project(threads=1), title="first")
    bad = create_run(small_project(data="/nowhere/x.npz"), title="bad")
    last = create_run(small_project(), title="last")
    for run in (first, bad, last):
        queue.enqueue(run)
    assert queue.start_next() == first
    assert [queue.is_waiting(run) for run in (first, bad, last)] == [False, True, True]
    until(last.is_alive)
    environment = environment_of(until(lambda: trainer_of(last)))
    assert "TF_NUM_INTRAOP_THREADS" not in environment, "that was the first run's own wish"
    assert told(first, RunFinished)[0].outcome == "completed"
    assert told(bad, RunFinished)[0].outcome == "failed"
    until(lambda: told(last, RunFinished))
    finish = [told(run, RunFinished)[0].time for run in (first, bad)]
    begin = [read_all(run.events_path)[0].time for run in (bad, last)]
    assert finish[0] <= begin[0]
    assert finish[1] <= begin[1], "never two at once"


def test_after_a_kill_the_next_look_starts_the_next_run(small_project):
    one = create_run(small_project(epochs=500), title="one")
    two = create_run(small_project(), title="two")
    for run in (one, two):
        queue.enqueue(run)
    queue.start_next()
    until(lambda: told(one, Batch))
    os.kill(told(one, RunStarted)[0].pid, signal.SIGKILL)
    until(lambda: not one.is_alive())
    assert queue.is_waiting(two), "a killed trainer sees to nothing"
    assert queue.start_next() == two
    until(lambda: told(two, RunFinished))


def test_a_paused_run_waits_to_go_on_and_its_boards_forget_what_is_done_again(small_project):
    run = create_run(small_project(epochs=30, steps_per_epoch=100), title="paused")
    start_trainer(run)
    until(lambda: told(run, EpochFinished))
    ask_to_pause(run)
    until(lambda: not run.is_alive())
    assert outcome_of(run).kind == "paused"
    queue.enqueue(run, resume=True)
    assert list_runs()[0].outcome == "waiting"
    queue.start_next()
    finished = until(lambda: told(run, RunFinished)[1:])[0]
    assert finished.outcome == "completed"
    started = told(run, RunStarted)
    assert [event.resumed_at_step is None for event in started] == [True, False]
    found = boards(run.path / "tensorboard")
    assert found["train"]["starts"] == [1, started[1].resumed_at_step + 1]
    epochs = {event.epoch: event for event in told(run, EpochFinished)}
    assert len(epochs) == 30
    for part, key in (("train", "accuracy"), ("validation", "val_accuracy")):
        values = {event.step: getattr(event, key) for event in epochs.values()}
        assert found[part]["epoch_accuracy"] == pytest.approx(values)
    until(lambda: not run.is_alive())


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
