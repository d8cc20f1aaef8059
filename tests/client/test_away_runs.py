"""What a window does with runs that another computer trains."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from workbench.checkup.tpu_first_run import end_hard
from workbench.cli import main
from workbench.cli._follow import CtrlC, follow
from workbench.client import run_library
from workbench.client.run_library import AwayRuns, list_and_start_next
from workbench.client.trainer_control import end_trainer
from workbench.core.projects.project import Choice
from workbench.protocol.events import RunFinished, RunStarted
from workbench.runs.control import mirror_command_of
from workbench.runs.library.index import list_runs
from workbench.runs.link import Link, Remote, plain_target, write_link, write_remote
from workbench.runs.trust import is_known, remember

BOX = Choice("ssh", {"host": "box"})


@pytest.fixture
def brought(written):
    run = written().begin().train(1)
    run.folder.move_to(BOX)
    write_remote(run.folder, Remote(target=plain_target(BOX), host="box", run="run-1"))
    write_link(run.folder, Link(state="attached", host="box", since=time.time()))
    return run


@pytest.mark.parametrize(("is_hard", "command"), [(False, "terminate"), (True, "kill")])
def test_no_process_here_is_signalled_for_a_trainer_elsewhere(brought, is_hard, command):
    # The process id of the trainer there is that of an unrelated process here.
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as innocent:
        assert end_trainer(brought.folder, innocent.pid, is_hard=is_hard) is None
        assert mirror_command_of(brought.folder) == command
        innocent.communicate(b"\n", timeout=60)
    assert innocent.returncode == 0


def test_the_first_run_kills_the_trainer_elsewhere_and_not_its_mirror(brought):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as mirror:
        end_hard(brought.folder, mirror.pid)
        mirror.communicate(b"\n", timeout=60)
    assert (mirror.returncode, mirror_command_of(brought.folder)) == (0, "kill")


def test_without_a_mirror_nothing_can_be_ended_elsewhere(brought):
    brought.end()
    error = end_trainer(brought.folder, os.getpid(), is_hard=True)
    assert "Not connected" in str(error)
    assert mirror_command_of(brought.folder) is None


def test_a_run_that_nobody_is_connected_to_is_connected_to_once_a_minute(brought, monkeypatch):
    brought.end()
    remember(BOX)
    home = brought.path.parent
    started = []
    monkeypatch.setattr(run_library, "reattach", lambda run: started.append(run.path))
    away = AwayRuns()
    for _ in range(3):
        runs, problem = list_and_start_next(home, away)
        assert (runs[0].outcome, problem) == ("away", None)
    assert started == [brought.path]
    list_and_start_next(home, AwayRuns())
    assert started == [brought.path] * 2


def test_an_address_that_came_with_a_run_folder_is_not_connected_to(brought, monkeypatch):
    brought.end()
    monkeypatch.setattr(run_library, "reattach", pytest.fail)
    assert AwayRuns().attach(list_runs(brought.path.parent)) is None
    assert not is_known(BOX)


def test_no_trainer_is_started_here_for_a_run_that_claims_to_be_elsewhere(written, monkeypatch):
    run = written().begin().train(1).end()
    for target in ({"key": "this_computer"}, plain_target(BOX)):
        remember(BOX)
        write_remote(run.folder, Remote(target=target, host="box", run="run-1"))
        assert list_runs(run.path.parent)[0].outcome == "away"
        monkeypatch.setattr(run_library, "reattach", pytest.fail)
        assert AwayRuns().attach(list_runs(run.path.parent)) is None


def test_who_was_refused_is_left_to_a_person(brought, monkeypatch):
    brought.end()
    remember(BOX)
    write_link(brought.folder, Link(state="refused", host="box"))
    monkeypatch.setattr(run_library, "reattach", pytest.fail)
    assert AwayRuns().attach(list_runs(brought.path.parent)) is None


def test_stopping_a_run_that_nobody_is_connected_to_connects_to_it(brought, monkeypatch, capsys):
    brought.end()
    started = []
    monkeypatch.setattr("workbench.cli.stop.reattach", lambda run: started.append(run.path))
    assert main(["stop", str(brought.path)]) == 4  # nobody has agreed to connect to it
    assert "--connect" in capsys.readouterr().err
    assert started == []
    assert main(["stop", str(brought.path), "--connect"]) == 0
    assert (started, mirror_command_of(brought.folder)) == ([brought.path], "stop")
    assert "connecting" in capsys.readouterr().err


def test_a_follower_names_the_folder_that_is_here(brought):
    brought.finish()
    events = list(follow(brought.folder, CtrlC(brought.folder)))
    named = [event.run for event in events if isinstance(event, RunStarted | RunFinished)]
    assert named == [str(brought.path)] * 2
    log = brought.folder.events_path.read_text()
    assert f'"run":"{brought.path}"' not in log


def test_the_second_ctrl_c_leaves_a_run_that_is_elsewhere(brought, capsys):
    ctrl_c = CtrlC(brought.folder)
    events = follow(brought.folder, ctrl_c)
    next(events)
    ctrl_c.is_pressed = True

    def go_on():
        for _event in events:
            ctrl_c.is_pressed |= ctrl_c.has_asked
            brought.batches([1.0])

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert mirror_command_of(brought.folder) == "stop"
    assert "Detached." in capsys.readouterr().err
