"""The trainer that waits for a run: real processes, handed over, killed, left by their window."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import workbench
from tests.worker.conftest import ENDLESS, Trainer
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import project_text, save_project
from workbench.protocol.events import Batch, PhaseChanged, RunStarted
from workbench.runs.control import request_stop
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.home import cache_home
from workbench.runs.start import ready_trainer, start_trainer, variables_of
from workbench.runs.store.weights_file import read_arrays
from workbench.targets.this_computer import computes_bfloat16
from workbench.worker.trainer import ready_benchmark
from workbench.worker.trainer.ready import OpenProject, receive_order

pytestmark = pytest.mark.worker

_WINDOW = """
import sys, time
from workbench.core.projects.project_file import read_project
from workbench.runs.folder import create_run
from workbench.runs.home import cache_home
from workbench.runs.start import ready_trainer
from workbench.runs.start import start_trainer

project = read_project(sys.argv[1])
ready_trainer.keep(project)
print(ready_trainer.pid, flush=True)
if sys.argv[2] == "train":
    run = create_run(project)
    print(start_trainer(run), run.path, flush=True)
time.sleep(600)
"""
"""What a window does of it, in a process that can be killed."""


@pytest.fixture
def _released():
    yield
    ready_trainer.release()


@pytest.fixture
def kept(_released):
    """Keeps a trainer ready for a project; returns its process id."""

    def keep(project):
        assert ready_trainer.keep(project)
        return ready_trainer.pid

    return keep


@pytest.fixture
def nothing_open():
    """No project, in a process that imports nothing."""
    return OpenProject(threading.Thread())


@pytest.fixture
def begun(_started):
    """The trainers of a test; none is left at its end."""
    return _started


@pytest.fixture
def window(tmp_path, begun):
    """Starts a process that keeps a trainer ready, and trains with it where `trains`."""
    processes = []

    def start(project, *, trains):
        path = tmp_path / "asked.workbench"
        save_project(project, path)
        words = [sys.executable, "-c", _WINDOW, str(path), "train" if trains else "wait"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        ready = int(process.stdout.readline())
        if not trains:
            return process, ready, None
        pid, path = process.stdout.readline().split(maxsplit=1)
        begun.append(Trainer(RunFolder(Path(path.strip())), int(pid)))
        return process, ready, begun[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_until_gone(pid):
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}/stat").exists():
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state in "ZX":
            return
        assert time.monotonic() < deadline
        time.sleep(0.02)


def looks_of(pid):
    """What of a process depends on how it was started: variables, descriptors, folder, session,
    priority, place when memory runs out.
    """
    place = Path("/proc", str(pid))
    stat = (place / "stat").read_text().rpartition(")")[2].split()
    return {
        "environ": set((place / "environ").read_bytes().split(b"\0")),
        "descriptors": [str((place / "fd" / str(n)).readlink()) for n in range(4)],
        "cwd": (place / "cwd").readlink(),
        "leads_session": int(stat[3]) == pid,
        "nice": int(stat[16]),
        "oom_score_adj": (place / "oom_score_adj").read_text(),
        "cores": os.sched_getaffinity(pid),
    }


def test_a_run_is_handed_to_the_trainer_that_waits(kept, trainer, small_project):
    project = small_project()
    ready = kept(project)
    training = trainer(project)
    assert training.pid == ready
    assert ready_trainer.pid == 0

    assert training.finish().outcome == "completed"
    (started,) = training.all(RunStarted)
    assert started.pid == ready
    phases = {event.phase for event in training.all(PhaseChanged)}
    assert {"starting", "importing", "loading", "building", "compiling", "training"} <= phases
    assert "oneDNN" in training.run.log_path.read_text()  # what TensorFlow has printed before


def test_it_looks_as_a_trainer_that_is_begun_for_its_run(kept, trainer, small_project):
    project = small_project(**ENDLESS)
    ready = kept(project)
    handed, fresh = trainer(project), trainer(project)
    assert handed.pid == ready != fresh.pid
    looks = []
    for training in (handed, fresh):
        training.wait_for(Batch)
        found = looks_of(training.pid)
        nothing, *printed, lock = found.pop("descriptors")
        assert nothing == os.devnull
        assert printed == [str(training.run.log_path)] * 2
        assert lock == str(training.run.lock_path)
        looks.append(found)
    assert looks[0] == looks[1]
    for training in (handed, fresh):
        request_stop(training.run)
        assert training.finish().outcome == "stopped"


@pytest.mark.full
def test_a_run_of_other_variables_is_not_handed_over(kept, trainer, small_project):
    ready = kept(small_project())
    training = trainer(small_project(threads=1))
    assert training.pid != ready
    wait_until_gone(ready)
    assert training.finish().outcome == "completed"


def test_a_changed_environment_program_or_folder_is_not_served(
    kept, tmp_path, monkeypatch, small_project
):
    project = small_project()
    with tempfile.TemporaryFile() as file:
        files = {"printed": file.fileno(), "lock": file.fileno()}

        def is_taken():
            words = ["train", str(tmp_path)]
            return ready_trainer.hand_over(words, variables_of(project), **files) is not None

        kept(project)
        with monkeypatch.context() as changed:
            changed.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
            assert not is_taken()
        kept(project)
        with monkeypatch.context() as changed:
            changed.chdir(tmp_path)
            assert not is_taken()
        kept(project)
        with monkeypatch.context() as changed:
            package = tmp_path / "workbench"
            package.mkdir()
            (package / "__init__.py").write_text("")
            changed.setattr(workbench, "__file__", str(package / "__init__.py"))
            assert not is_taken()


def test_none_waits_for_a_run_on_another_target(kept, small_project):
    project = small_project()
    ready = kept(project)
    assert not ready_trainer.keep(replace(project, target=Choice("virtual", {"replicas": 2})))
    wait_until_gone(ready)


def test_it_is_kept_and_not_begun_twice(kept, small_project):
    first = kept(small_project())
    assert kept(small_project(epochs=5)) == first
    assert kept(small_project(threads=1)) != first
    wait_until_gone(first)


def test_where_it_was_killed_a_trainer_is_begun(kept, trainer, small_project):
    project = small_project()
    ready = kept(project)
    os.kill(ready, signal.SIGKILL)
    training = trainer(project)
    assert training.pid != ready
    assert training.finish().outcome == "completed"
    assert kept(project) != ready


@pytest.mark.full
def test_where_it_does_not_answer_a_trainer_is_begun(kept, trainer, small_project, monkeypatch):
    monkeypatch.setattr("workbench.runs.start._PATIENCE_S", 0.2)
    project = small_project()
    ready = kept(project)
    os.kill(ready, signal.SIGSTOP)
    training = trainer(project)
    assert training.pid != ready
    wait_until_gone(ready)
    assert training.finish().outcome == "completed"


@pytest.mark.full
def test_of_two_runs_begun_at_once_one_gets_it(kept, begun, small_project):
    project = small_project()
    ready = kept(project)
    runs = [create_run(project), create_run(project)]

    def begin(run):
        begun.append(Trainer(run, start_trainer(run)))

    threads = [threading.Thread(target=begin, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(training.pid == ready for training in begun) == 1
    for training in begun:
        assert training.finish().outcome == "completed"
        (started,) = training.all(RunStarted)
        assert started.pid == training.pid


def test_it_ends_with_its_window(window, small_project):
    process, ready, _ = window(small_project(), trains=False)
    process.kill()
    wait_until_gone(ready)


def test_a_run_that_was_handed_over_survives_its_window(window, small_project):
    process, ready, training = window(small_project(**ENDLESS), trains=True)
    assert training.pid == ready
    process.kill()
    process.wait()
    training.wait_for(Batch, 3)
    request_stop(training.run)
    assert training.finish().outcome == "stopped"


def benchmarked():
    """The networks that were benchmarked here."""
    return list((cache_home() / "plans").glob("*.json"))


def wait_until_benchmarked(count):
    deadline = time.monotonic() + 120
    while len(benchmarked()) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def network(small_project, kind, **recipe):
    return small_project(("rescaling", {}), kind, xla="off", **recipe)


@pytest.mark.full
def test_it_benchmarks_the_open_projects_beforehand(kept, trainer, small_project):
    dense = network(small_project, ("flatten", {}))
    convolution = network(small_project, ("conv2d", {"filters": 3, "kernel_size": (3, 3)}))
    ready = kept(dense)
    wait_until_benchmarked(1)
    assert kept(convolution) == ready
    wait_until_benchmarked(2)

    handed = trainer(convolution)
    assert handed.pid == ready
    assert handed.finish().outcome == "completed"
    phases = {event.phase for event in handed.all(PhaseChanged)}
    assert "measuring" not in phases
    (started,) = handed.all(RunStarted)
    if computes_bfloat16():  # else there is one way alone
        assert "benchmarked earlier" in started.plan.words
    assert len(benchmarked()) == 2

    fresh = trainer(convolution)
    assert fresh.finish().outcome == "completed"
    weights = [read_arrays(training.run.weights_path) for training in (handed, fresh)]
    assert weights[0].keys() == weights[1].keys()
    for name, values in weights[0].items():
        np.testing.assert_array_equal(values, weights[1][name])


@pytest.mark.full
def test_a_run_may_come_during_the_benchmark(kept, trainer, small_project):
    project = network(small_project, ("conv2d", {"filters": 3, "kernel_size": (3, 3)}))
    ready = kept(project)
    training = trainer(project)
    assert training.pid == ready
    assert training.finish().outcome == "completed"


def test_it_ends_unused_and_where_memory_is_short(nothing_open):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert receive_order(theirs, nothing_open, unused_s=0, look_s=0.01) is None
        assert receive_order(theirs, nothing_open, least_bytes=1 << 60, look_s=0.01) is None


def test_an_order_may_come_in_pieces_behind_open_projects(nothing_open, small_project):
    ours, theirs = socket.socketpair()
    taken = []
    nothing_open.take = taken.append
    with ours, theirs, tempfile.TemporaryFile() as file:
        projects = [small_project(), small_project(epochs=7)]
        lines = [json.dumps({"project": project_text(project)}) for project in projects]
        ours.sendall("\n".join(lines).encode())
        ours.sendall(b"\n\n")
        socket.send_fds(ours, [b'["train",'], [file.fileno(), file.fileno()])
        ours.sendall(b' "/runs/1"]\n')
        order = receive_order(theirs, nothing_open)
        assert [project.recipe.epochs for project in taken] == [3, 7]
        assert order.words == ["train", "/runs/1"]
        for number in (order.printed, order.lock):
            assert os.path.samestat(os.fstat(number), os.fstat(file.fileno()))
            os.close(number)
        ours.close()
        assert receive_order(theirs, nothing_open) is None


def test_a_project_waits_for_the_import(small_project, monkeypatch):
    begun = []
    monkeypatch.setattr(ready_benchmark, "begin_benchmark", lambda _ahead, one: begun.append(one))
    imported = threading.Event()
    importing = threading.Thread(target=imported.wait)
    importing.start()
    open_project, project = OpenProject(importing), small_project()
    open_project.take(project)
    open_project.look()
    assert open_project.waits
    assert begun == []
    imported.set()
    importing.join()
    open_project.look()
    open_project.look()
    assert not open_project.waits
    assert begun == [project]


def test_none_is_begun_where_memory_is_short(small_project, monkeypatch):
    monkeypatch.setattr("workbench.runs.start.available_memory", lambda: 1 << 29)
    assert not ready_trainer.keep(small_project())
    assert ready_trainer.pid == 0
