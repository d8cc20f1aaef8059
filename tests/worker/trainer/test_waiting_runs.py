"""Real trainers, one after another, without a window."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

from tests.worker.conftest import ENDLESS
from workbench.protocol.events import RunEvent, RunFinished
from workbench.runs.folder import create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.state import queue
from workbench.runs.state.outcome import outcome_of

pytestmark = [pytest.mark.full, pytest.mark.worker, pytest.mark.timeout(900)]

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
        until(lambda run=run: killed_at_last(run))


def killed_at_last(run):
    """Kills the trainer of a run; False while the run is locked still."""
    if run.is_alive() and (pid := trainer_of(run)):  # it may end by itself at any moment
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return not run.is_alive()


def logged(run, kind):
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


def test_runs_one_after_another_a_killed_one_and_a_failing_one_among_them(small_project):
    killed = create_run(small_project(**ENDLESS), title="killed")
    first = create_run(small_project(threads=1), title="first")
    bad = create_run(small_project(data="/nowhere/x.npz"), title="bad")
    last = create_run(small_project(), title="last")
    runs = (killed, first, bad, last)
    for run in runs:
        queue.enqueue(run)
    assert queue.start_next() == killed
    until(lambda: logged(killed, RunEvent))
    until(lambda: killed_at_last(killed))
    assert [queue.is_waiting(run) for run in runs] == [False, True, True, True], (
        "a killed trainer starts no other"
    )
    assert queue.start_next() == first
    assert [queue.is_waiting(run) for run in runs] == [False, False, True, True]
    until(last.is_alive)
    environment = environment_of(until(lambda: trainer_of(last)))
    assert "TF_NUM_INTRAOP_THREADS" not in environment, "that was a setting of the first run alone"
    assert logged(first, RunFinished)[0].outcome == "completed"
    assert logged(bad, RunFinished)[0].outcome == "failed"
    until(lambda: logged(last, RunFinished))
    finish = [logged(run, RunFinished)[0].time for run in (first, bad)]
    begin = [read_all(run.events_path)[0].time for run in (bad, last)]
    assert finish[0] <= begin[0]
    assert finish[1] <= begin[1], "never two at once"
