from __future__ import annotations

import os
import time

import pytest

from workbench.core.storage.own_file import take_lock
from workbench.core.training.recipe import TrainingRecipe
from workbench.host.memory import memory_limit
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import Heartbeat, RunFinished
from workbench.runs.library.index import summarise
from workbench.runs.log.event_log import EventWriter
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.texts import event_text
from workbench.runs.start import RESUMED_MARK
from workbench.runs.state.outcome import can_resume, outcome_of, use_less


@pytest.fixture
def running(run):
    """A run whose lock this process holds."""
    lock = take_lock(run.lock_path)
    yield run
    os.close(lock)


def ended(run):
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


def test_a_failure_is_reported_in_the_trainers_words(run):
    error = ErrorParts(what="The disk is full.", fix="Make room.")
    with EventWriter(run.events_path) as writer:
        writer.write(RunFinished(outcome="failed", run="", seconds=1, epochs_done=0, error=error))
    outcome = outcome_of(run)
    assert (outcome.kind, outcome.sentence()) == ("failed", "The disk is full. Make room.")
    assert outcome.error == error


def test_a_failure_names_the_file_that_it_is_about(run):
    error = ErrorParts(what="There is no such image file.", where="/photos/rose/7.jpg")
    with EventWriter(run.events_path) as writer:
        end = RunFinished(outcome="failed", run="", seconds=1, epochs_done=0, error=error)
        writer.write(end)
    for words in (outcome_of(run).sentence(), event_text(end)):
        assert "There is no such image file. Where: /photos/rose/7.jpg." in words


def test_a_locked_run_is_running(running):
    assert outcome_of(running).kind == "running"
    beat(running, 1)
    assert outcome_of(running).kind == "running"
    assert not outcome_of(running).is_over


def test_a_locked_run_without_heartbeats_is_silent_not_crashed(running):
    beat(running, 1)
    long_ago = time.time() - 60
    os.utime(running.events_path, (long_ago, long_ago))
    outcome = outcome_of(running)
    assert outcome.kind == "silent"
    assert "60 s" in outcome.sentence()
    assert not outcome.is_over


def test_a_run_just_made_is_about_to_start(run):
    assert outcome_of(run).kind == "running"
    long_ago = time.time() - 3600
    os.utime(run.request_path, (long_ago, long_ago))
    assert outcome_of(run).sentence() == "The training process was never started."


def test_killed_with_much_memory_is_probably_out_of_memory(run):
    beat(ended(run), int(0.9 * memory_limit()))
    sentence = outcome_of(run).sentence()
    assert "probably out of memory" in sentence
    assert f"it used {0.9 * memory_limit() / 1e9:.1f} of" in sentence


def test_killed_with_little_memory_is_not_called_out_of_memory(run):
    beat(ended(run), 600_000_000)
    run.log_path.write_text(
        "E0000 00:00:1764291723.123 1234 cuda_dnn.cc:8579] Unable to register cuDNN factory\n"
    )
    outcome = outcome_of(run)
    assert outcome.kind == "died"
    assert outcome.log_tail == (), "what is printed at each start is no reason"
    assert "0.6 GB" in outcome.sentence()
    assert "out of memory" not in outcome.sentence()


def test_a_crash_below_python_is_reported(run):
    ended(run).crash_path.write_text("Fatal Python error: Segmentation fault\n\nThread 0x1:\n")
    assert "segmentation fault" in outcome_of(run).sentence()


def test_an_error_at_the_end_of_the_log_is_reported(run):
    ended(run).log_path.write_text(
        'Traceback (most recent call last):\n  File "x.py", line 1\nModuleNotFoundError: no keras\n'
    )
    outcome = outcome_of(run)
    assert "ModuleNotFoundError: no keras" in outcome.sentence()
    assert outcome.log_tail[-1].endswith("no keras")


def finished(run, **values):
    with EventWriter(run.events_path) as writer:
        values = {"outcome": "stopped", "run": "", "seconds": 1, "epochs_done": 11, **values}
        return writer.write(RunFinished(**values))


def test_a_pause_says_where_it_goes_on(run):
    finished(run, is_paused=True, can_resume=True)
    outcome = outcome_of(run)
    assert (outcome.kind, outcome.can_resume) == ("paused", True)
    assert outcome.sentence() == "Paused after 11 epochs; it can be resumed."
    # With weights, but no checkpoint, going on would begin from the start.
    run.card_path.touch()
    run.weights_path.touch()
    outcome = outcome_of(run)
    assert (outcome.kind, outcome.can_resume) == ("stopped", False)
    run.checkpoints_path.mkdir()
    (run.checkpoints_path / "1.npz").touch()
    assert can_resume(run)


def test_a_resumed_run_is_running_from_its_first_moment(run):
    history = MetricHistory()
    history.add(finished(run, can_resume=True))
    lock = take_lock(run.lock_path)
    os.pwrite(lock, f"{run.events_path.stat().st_size}\n".encode(), 0)
    long_ago = time.time() - 600
    os.utime(run.events_path, (long_ago, long_ago))
    for known in (None, history):
        assert outcome_of(run, known).sentence() == "The training process is starting."
    beat(run, 1)
    assert outcome_of(run).kind == "running"
    os.close(lock)
    assert outcome_of(run).kind == "died"
    assert outcome_of(run).can_resume


def test_too_little_memory_is_reported_with_what_would_help(run):
    error = ErrorParts(what="The memory is not enough.", kind="OutOfMemoryError")
    finished(run, outcome="failed", error=error)
    suggestion = outcome_of(run).suggestion
    assert suggestion.changes["batch_size"] == 32
    assert suggestion.words.startswith("Retry with batch 32")
    finished(run, outcome="failed", error=ErrorParts(what="Something else."))
    assert outcome_of(run).suggestion is None


def test_the_suggestion_starts_from_the_batch_that_was_trained(run, events):
    started = next(events(run))  # ten pictures a batch, fewer than the recipe's 64
    with EventWriter(run.events_path) as writer:
        writer.write(started)
    error = ErrorParts(what="The memory is not enough.", kind="OutOfMemoryError")
    finished(run, outcome="failed", error=error)
    assert outcome_of(run).suggestion.changes["batch_size"] == 8


def test_a_library_that_gets_no_memory_is_out_of_memory(run):
    ended(run).log_path.write_text("terminate called after throwing 'std::bad_alloc'\n")
    outcome = outcome_of(run)
    assert "ran out of memory" in outcome.sentence()
    assert outcome.suggestion.changes
    # What an earlier trainer of the run has printed does not count.
    run.log_path.write_text(f"std::bad_alloc\n{RESUMED_MARK}\n")
    assert outcome_of(run).suggestion is None


@pytest.mark.parametrize(
    ("batch_size", "half"), [(2, 1), (3, 2), (64, 32), (100, 64), (1_000, 512)]
)
def test_a_smaller_batch_is_a_power_of_two(batch_size, half):
    recipe = TrainingRecipe(batch_size=batch_size)
    assert use_less(recipe).changes["batch_size"] == half
    assert use_less(TrainingRecipe(batch_size=1)) is None


def test_a_folder_that_cannot_be_written_is_reported_soon(running, monkeypatch):
    beat(running, 1)
    ago = time.time() - 5
    os.utime(running.events_path, (ago, ago))
    assert outcome_of(running).kind == "running"
    values = list(os.statvfs(running.path))
    full = os.statvfs_result([*values[:3], 0, 0, *values[5:]])
    monkeypatch.setattr(os, "statvfs", lambda path: full)
    outcome = outcome_of(running)
    assert outcome.kind == "silent"
    assert "the disk is full" in outcome.sentence()
    listed = summarise(running)
    assert (listed.outcome, listed.state) == ("silent", "cannot save"), "it does respond"


def test_a_library_that_ends_the_trainer_is_recognized_by_what_it_printed(run):
    folder = ended(run)
    folder.crash_path.write_text("Fatal Python error: Aborted\n\nThread 0x1:\n")
    folder.log_path.write_text(
        "F0000 TpuExecutable_FreeMaybeOwningDeviceMemoryArray not available in this library.\n"
    )
    words = outcome_of(folder).sentence()
    assert "libtpu does not match TensorFlow" in words
    assert "tensorflow-tpu==2.19.1" in words


def test_a_fault_without_a_chip_is_recognized_by_what_was_printed_before_it(run):
    folder = ended(run)
    folder.crash_path.write_text("Fatal Python error: Segmentation fault\n\nThread 0x1:\n")
    folder.log_path.write_text("No TPU platform registered. Waiting 1 second and trying again...\n")
    assert "finds no TPU in this computer" in outcome_of(folder).sentence()


def test_an_error_that_python_printed_last_is_reported_in_the_words_of_a_tpu(run):
    folder = ended(run)
    folder.log_path.write_text(
        "Traceback (most recent call last):\n  File x\nRuntimeError: The TPU is already in use by "
        "process with pid 4321.\n"
    )
    assert "in use by another process 4321" in outcome_of(folder).sentence()
