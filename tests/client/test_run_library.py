"""The library lists, follows, stops, renames and deletes runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from workbench.client import trainer_control
from workbench.client.run_library import RunLibrary
from workbench.protocol.bases import ErrorParts
from workbench.protocol.weights import KeptWeights
from workbench.runs.control import command_of
from workbench.runs.folder import LOCK_FD_VARIABLE, RunFolder


@pytest.fixture
def library(qtbot):
    library = RunLibrary()
    yield library
    library.close()


def open_library(qtbot, library):
    with qtbot.waitSignal(library.runs_changed):
        library.open()


def test_no_runs_are_no_error(qtbot, library):
    library.open()
    qtbot.waitUntil(lambda: not library._is_listing)
    assert library.runs == []
    assert library.current is None


def test_an_active_run_is_followed_again_and_selected(qtbot, library, written):
    active = written("old but alive").begin().train(1)
    written("newer").begin().train(2).finish()
    open_library(qtbot, library)
    assert [run.outcome for run in library.runs] == ["completed", "running"]
    assert library.current.run.path == active.path
    qtbot.waitUntil(lambda: library.current.is_loaded)
    assert len(library.current.history.epochs) == 1


def test_run_ended_is_emitted_for_a_run_that_ends_but_not_for_an_old_one(qtbot, library, written):
    ended = []
    library.run_ended.connect(lambda path, outcome: ended.append((path, outcome.kind)))
    old = written("old").begin().train(1).finish()
    active = written("active").begin()
    open_library(qtbot, library)
    library.select(old.path)
    qtbot.waitUntil(lambda: library.current.is_over)
    active.train(1).finish("stopped")
    qtbot.waitUntil(lambda: bool(ended))
    assert ended == [(str(active.path), "stopped")]


def test_selecting_another_run_drops_the_follower_of_one_that_is_over(qtbot, library, written):
    one = written("one").begin().train(1).finish()
    two = written("two").begin().train(2).finish()
    open_library(qtbot, library)
    library.select(one.path)
    qtbot.waitUntil(lambda: library.current.is_over)
    with qtbot.waitSignal(library.current_changed):
        library.select(two.path)
    assert library.follower(one.path) is None
    qtbot.waitUntil(lambda: library.current.is_loaded)
    assert len(library.current.history.epochs) == 2


def test_renaming_changes_the_title_and_nothing_else(qtbot, library, written):
    run = written("before").begin().train(1).finish()
    request = run.folder.request()
    open_library(qtbot, library)
    library.rename(run.path, "  after  ")
    qtbot.waitUntil(lambda: library.runs[0].title == "after")
    assert run.folder.request().project == request.project
    assert run.folder.request().created == request.created


def test_deleting_moves_to_the_trash_and_refuses_an_active_run(qtbot, library, written, home_trash):
    active = written("active").begin()
    dead = written("dead").begin().train(1).finish()
    open_library(qtbot, library)
    with qtbot.waitSignal(library.failed) as refused:
        library.delete(active.path)
    assert "running run" in refused.args[0].what
    assert active.path.exists()
    library.delete(dead.path)
    qtbot.waitUntil(lambda: [run.path for run in library.runs] == [active.path])
    assert (home_trash / "files" / dead.folder.name / "request.json").exists()


def test_stop_is_requested_once_and_offers_more_only_when_it_takes_long(
    qtbot, library, written, monkeypatch
):
    monkeypatch.setattr(trainer_control, "OFFER_AFTER_S", 0.05)
    run = written("busy").begin()
    open_library(qtbot, library)
    with qtbot.waitSignal(library.stop_offered) as offered:
        library.stop()
        assert library.is_stopping(run.path)
    assert offered.args == [str(run.path)]
    assert command_of(run.folder)


def test_a_run_that_stops_in_time_is_offered_nothing(qtbot, library, written, monkeypatch):
    monkeypatch.setattr(trainer_control, "OFFER_AFTER_S", 600)
    run = written("quick").begin().train(1)
    open_library(qtbot, library)
    qtbot.waitUntil(lambda: library.current.is_loaded)
    library.stop()
    ladder = library._ladders[run.path]
    run.finish("stopped")
    qtbot.waitUntil(lambda: library.current.is_over)
    assert not library.is_stopping(run.path)
    assert not ladder._timer.isActive()


def sleeper(run: RunFolder) -> subprocess.Popen:
    """A process that holds a run's lock as a trainer does, and does nothing else."""
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from workbench.core.storage.own_file import take_lock\n"
        "take_lock(Path(sys.argv[1]))\n"
        "print('locked', flush=True)\n"
        "time.sleep(600)\n"
    )
    command = [sys.executable, "-c", code, str(run.lock_path)]
    environment = {key: value for key, value in os.environ.items() if key != LOCK_FD_VARIABLE}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    assert process.stdout.readline() == "locked\n"
    return process


@pytest.mark.parametrize("is_hard", [False, True])
def test_a_trainer_is_ended_only_while_its_lock_is_held(written, is_hard):
    run = written("gone").begin()
    run.end()
    process = sleeper(run.folder)
    try:
        # The number of an earlier trainer is an innocent process here, and the lock is held.
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
            error = trainer_control.end_trainer(run.folder, other.pid, is_hard=is_hard)
            assert "Another training process" in error.what
            other.communicate(b"\n", timeout=60)
        assert other.returncode == 0
        assert trainer_control.end_trainer(run.folder, process.pid, is_hard=is_hard) is None
        wanted = signal.SIGKILL if is_hard else signal.SIGTERM
        assert process.wait(10) == -wanted
        # The lock is free now: the same number may be anybody's process.
        error = trainer_control.end_trainer(run.folder, os.getpid(), is_hard=is_hard)
        assert "already ended" in error.what
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_that_a_training_has_saved_other_weights_is_reported(qtbot, library, written):
    saved = []
    library.weights_saved.connect(saved.append)
    active = written("active").begin()
    open_library(qtbot, library)
    qtbot.waitUntil(lambda: library.current.is_loaded)
    active.train(1).kept()
    qtbot.waitUntil(lambda: bool(saved))
    failed = ErrorParts(kind="SaveError", what="The disk is full.")
    active.kept(problem=failed).finish("stopped", kept=KeptWeights(epoch=1))
    qtbot.waitUntil(lambda: library.current.is_over)
    assert saved == [str(active.path)] * 2
