"""Runs that go on at another target: what is requested and changed, with the starting left out."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from workbench.core.projects.project import Choice
from workbench.errors import RunError, RunFolderError
from workbench.protocol.events import Plan
from workbench.runs.control import clear_command, mirror_command_of
from workbench.runs.link import Link, Remote, read_remote, write_link, write_remote
from workbench.runs.state import preparing as elsewhere
from workbench.runs.state.preparing import go_on_with, is_moving
from workbench.runs.store.checkpoint import DataMark, Machine, TrainerState, write_checkpoint

HERE = Choice("this_computer")
SSH = {"key": "ssh", "params": {"host": "box"}}


@pytest.fixture
def started(monkeypatch):
    runs = []
    monkeypatch.setattr(
        elsewhere, "start_trainer", lambda run, *, resume: runs.append((run.path, resume)) or 5
    )
    return runs


@pytest.fixture
def gone(written):
    """A run whose line is lost for good, with its run mirror still trying."""
    run = written().begin().train(1)
    write_remote(run.folder, Remote(target=SSH, host="box", run="run-1"))
    write_link(run.folder, Link(state="gone", host="box", since=time.time() - 400))
    state = TrainerState(
        number=1, step=7, epochs_done=0, seconds=1.0, plan=Plan(precision="float32"),
        machine=Machine(versions={}, cores=1, cpu="", flags=[]),
        data=DataMark(num_train=1, num_validation=0, num_test=0, digest=""),
    )  # fmt: skip
    write_checkpoint(run.folder, state, {"weights": np.zeros(2, np.float32)})
    return run


def test_the_mirror_is_ended_by_command_and_the_place_is_given_up(gone, started):
    def leave():
        while mirror_command_of(gone.folder) != "leave":
            time.sleep(0.01)
        clear_command(gone.folder)
        gone.end()

    thread = threading.Thread(target=leave)
    thread.start()
    assert is_moving(gone.folder, HERE)
    assert go_on_with(gone.folder, HERE) == 5
    thread.join()
    assert started == [(gone.path, True)]
    assert read_remote(gone.folder) is None
    assert gone.folder.project().target == HERE
    assert not is_moving(gone.folder, HERE)


def test_a_mirror_that_does_not_leave_keeps_its_run(gone, started, monkeypatch):
    monkeypatch.setattr(elsewhere, "_LEAVE_S", 0.2)
    with pytest.raises(RunError, match="does not end"):
        go_on_with(gone.folder, HERE)
    assert not started
    assert read_remote(gone.folder) is not None
    assert gone.folder.moved_to() is None
    assert mirror_command_of(gone.folder) is None


@pytest.mark.parametrize("end", ["completed", None])
def test_what_trains_or_is_completed_stays_where_it_is(written, started, end):
    run = written().begin().train(1)
    if end:
        run.finish(end)
    with pytest.raises(RunFolderError, match="cannot be continued"):
        go_on_with(run.folder, Choice("virtual", {"replicas": 2}))
    assert not started
    assert run.folder.moved_to() is None


def test_an_unknown_target_changes_nothing(gone, started):
    gone.end()
    with pytest.raises(RunError, match="unknown"):
        go_on_with(gone.folder, Choice("moon"))
    assert read_remote(gone.folder) is not None
    assert gone.folder.moved_to() is None


def test_defaults_that_were_not_said_are_no_other_target(gone):
    gone.end()
    assert not is_moving(gone.folder, Choice("ssh", {"host": "box", "user": "", "port": 0}))
    assert is_moving(gone.folder, Choice("ssh", {"host": "other"}))
