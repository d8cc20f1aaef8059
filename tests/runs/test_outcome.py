from __future__ import annotations

import os
import time

import pytest

from workbench.core.file_lock import take_lock
from workbench.protocol.events import Heartbeat, RunFinished
from workbench.protocol.messages import ErrorParts
from workbench.runs.event_log import EventWriter
from workbench.runs.history import MetricHistory
from workbench.runs.outcome import memory_limit, outcome_of


@pytest.fixture
def living(run):
    """A run whose lock this process holds."""
    lock = take_lock(run.lock_path)
    yield run
    os.close(lock)


def dead(run):
    run.log_path.write_text("")
    run.lock_path.touch()
    return run


def beat(run, memory_bytes):
    with EventWriter(run.events_path) as writer:
        writer.write(Heartbeat(memory_bytes=memory_bytes))


@pytest.mark.parametrize("kind", ["completed", "stopped"])
def test_what_the_trainer_said_holds(run, events, kind):
    history = MetricHistory()
    with EventWriter(run.events_path) as writer:
        history.add_all(writer.write(event) for event in events(run, outcome=kind))
    for outcome in (outcome_of(run), outcome_of(run, history), outcome_of(run, MetricHistory())):
        assert outcome.kind == str(outcome) == kind
        assert outcome.is_over
        assert outcome.sentence()


def test_a_failure_is_told_in_the_trainers_words(run):
    error = ErrorParts(what="The disk is full.", fix="Make room.")
    with EventWriter(run.events_path) as writer:
        writer.write(RunFinished(outcome="failed", run="", seconds=1, epochs_done=0, error=error))
    outcome = outcome_of(run)
    assert (outcome.kind, outcome.sentence()) == ("failed", "The disk is full. Make room.")
    assert outcome.error == error


def test_a_living_run_is_running(living):
    assert outcome_of(living).kind == "running"
    beat(living, 1)
    assert outcome_of(living).kind == "running"
    assert not outcome_of(living).is_over


def test_a_living_run_without_heartbeats_is_silent_not_dead(living):
    beat(living, 1)
    long_ago = time.time() - 60
    os.utime(living.events_path, (long_ago, long_ago))
    outcome = outcome_of(living)
    assert outcome.kind == "silent"
    assert "60 s" in outcome.sentence()
    assert not outcome.is_over


def test_a_run_just_made_is_about_to_start(run):
    assert outcome_of(run).kind == "running"
    long_ago = time.time() - 3600
    os.utime(run.request_path, (long_ago, long_ago))
    assert outcome_of(run).sentence() == "The trainer was never started."


def test_killed_with_much_memory_is_probably_out_of_memory(run):
    beat(dead(run), int(0.9 * memory_limit()))
    sentence = outcome_of(run).sentence()
    assert "probably out of memory" in sentence
    assert f"it held {0.9 * memory_limit() / 1e9:.1f} of" in sentence


def test_killed_with_little_memory_is_not_called_out_of_memory(run):
    beat(dead(run), 600_000_000)
    outcome = outcome_of(run)
    assert outcome.kind == "died"
    assert "0.6 GB" in outcome.sentence()
    assert "out of memory" not in outcome.sentence()


def test_a_crash_below_python_is_told(run):
    dead(run).crash_path.write_text("Fatal Python error: Segmentation fault\n\nThread 0x1:\n")
    assert "segmentation fault" in outcome_of(run).sentence()


def test_an_error_at_the_end_of_the_log_is_told(run):
    dead(run).log_path.write_text(
        'Traceback (most recent call last):\n  File "x.py", line 1\nModuleNotFoundError: no keras\n'
    )
    outcome = outcome_of(run)
    assert "ModuleNotFoundError: no keras" in outcome.sentence()
    assert outcome.log_tail[-1].endswith("no keras")
