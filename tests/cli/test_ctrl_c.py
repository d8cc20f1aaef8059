"""Ctrl+C while a run is followed, at moments that hurt; one of them with a real trainer."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.small_projects import stripes_project
from tests.written_runs import WrittenRun
from workbench.cli import _follow, main
from workbench.cli import train as train_command
from workbench.cli._follow import CtrlC
from workbench.core.projects.project_file import save_project
from workbench.runs.control import command_of, request_stop
from workbench.runs.folder import RunFolder


@pytest.fixture
def project(tmp_path, capsys):
    path = tmp_path / "fashion.workbench"
    assert main(["new", "fashion_convnet", str(path)]) == 0
    capsys.readouterr()
    return path


@pytest.fixture
def trained(monkeypatch):
    """Trainers that say much at once, and stop when they are asked; the key is pressed at
    their start, or as soon as `at` events are printed."""
    at = [0]
    threads = []

    def stop_when_asked(trainer):
        until = time.monotonic() + 20
        while command_of(trainer.folder) != "stop" and time.monotonic() < until:
            time.sleep(0.01)
        trainer.finish("stopped")

    def start(folder):
        trainer = WrittenRun.of(folder, step=0, resumed_at_step=None).train(3)
        threads.append(threading.Thread(target=stop_when_asked, args=(trainer,)))
        threads[0].start()
        if at[0] == 0:
            signal.raise_signal(signal.SIGINT)

    print_json, count = train_command.print_json, itertools.count(1)

    def press_and_print(event):
        if next(count) == at[0]:
            signal.raise_signal(signal.SIGINT)
        print_json(event)

    monkeypatch.setattr(train_command, "start_trainer", start)
    monkeypatch.setattr(train_command, "print_json", press_and_print)
    yield at
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("moment", [0, 1, 4])
def test_no_moment_leaves_the_trainer_alone_or_drops_an_event(trained, project, capsys, moment):
    trained[0] = moment
    assert main(["train", str(project), "--json"]) == 130
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, 9))
    assert events[-1]["outcome"] == "stopped"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("sender", ["the window", ""])
def test_a_stop_from_elsewhere_is_told_in_the_terminal_that_trains(
    trained, project, capsys, monkeypatch, sender
):
    trained[0] = 99  # nobody presses Ctrl+C
    begin = train_command.start_trainer

    def begin_and_stop(folder):
        begin(folder)
        request_stop(folder, sender=sender)

    monkeypatch.setattr(train_command, "start_trainer", begin_and_stop)
    assert main(["train", str(project)]) == 0
    words = f"Stop requested by {sender or 'another process'}."
    assert capsys.readouterr().err.count(words) == 1


def test_a_command_that_does_not_poll_any_more_requests_the_stop_on_exit(written):
    run = written("left alone").begin().folder
    with CtrlC(run):
        signal.raise_signal(signal.SIGINT)
        assert command_of(run) is None
    assert command_of(run) == "stop"


def test_the_second_key_ends_a_command_that_hangs(written, monkeypatch):
    run = written("unread").begin().folder
    with CtrlC(run):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # some senders say it twice
        monkeypatch.setattr(_follow, "_PATIENCE_S", -1.0)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert command_of(run) == "stop"


def test_what_ignores_the_key_goes_on_ignoring_it(written):
    run = written("in the background").begin().folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with CtrlC(run) as ctrl_c:
            signal.raise_signal(signal.SIGINT)
            assert not ctrl_c.is_pressed
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def small(tmp_path):
    """The file of a project that is trained in a moment."""
    path = tmp_path / "small.workbench"
    save_project(stripes_project(tmp_path), path)
    return path


@pytest.mark.worker
def test_a_real_training_is_stopped_and_followed_to_its_end(small):
    words = ["train", str(small), "--json", "--epochs", "100000", "--set", "steps_per_epoch=20"]
    command = [sys.executable, "-m", "workbench", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        events = []
        for line in process.stdout:
            events.append(json.loads(line))
            if len(events) == 1:
                process.send_signal(signal.SIGINT)
        assert process.wait(280) == 130
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (events[-1]["event"], events[-1]["outcome"]) == ("run_finished", "stopped")


@pytest.mark.worker
def test_a_run_that_was_just_complete_is_done_whatever_was_pressed(small, tmp_path):
    folder = RunFolder(tmp_path / "run")
    words = ["--epochs", "1", "--set", "steps_per_epoch=1", "--run", str(folder.path)]
    command = [sys.executable, "-m", "workbench", "train", str(small), "--json", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline()]
        process.send_signal(signal.SIGSTOP)  # it does not see the run's end before the key
        until = time.monotonic() + 280
        while folder.is_alive():
            assert time.monotonic() < until
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        lines += process.stdout
        assert process.wait(280) == 0
    assert json.loads(lines[-1])["outcome"] == "completed"
