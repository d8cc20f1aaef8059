"""A benchmark made ahead of a training, by a fork of the process: begun once, ended, waited for."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from workbench.core.checks.analysis import analyse
from workbench.layers import all_layers
from workbench.worker.execution.compiled import BenchmarkAhead
from workbench.worker.process.run_channel import StoppedError
from workbench.worker.trainer import ready_benchmark
from workbench.worker.trainer.ready_benchmark import begin_benchmark, noise_task

pytestmark = pytest.mark.worker


class Ahead(BenchmarkAhead):
    """With the process ids of its forks."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def count(self, key, seconds=0.0):
        """Begins what appends the id of its process, and goes on for some seconds."""
        self.begin(key, lambda: self._note(key, seconds))

    def _note(self, key, seconds):
        with (self.folder / key).open("a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(seconds)

    def pids(self, key):
        path = self.folder / key
        return [int(pid) for pid in path.read_text().split()] if path.exists() else []

    def wait_until_begun(self, key):
        deadline = time.monotonic() + 60
        while not self.pids(key):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return self.pids(key)[0]


@pytest.fixture
def ahead(tmp_path):
    ahead = Ahead(tmp_path)
    yield ahead
    ahead.end()


def test_it_is_a_fork_that_is_waited_for(ahead):
    ahead.count("one", 0.2)
    ahead.wait_for("one", lambda: False)
    (pid,) = ahead.pids("one")
    assert pid != os.getpid()
    assert not Path(f"/proc/{pid}").exists()
    ahead.wait_for("one", lambda: pytest.fail("nothing is under way"))


def test_a_network_is_benchmarked_once_and_another_takes_its_place(ahead):
    ahead.count("one", 600)
    first = ahead.wait_until_begun("one")
    ahead.count("one")
    assert Path(f"/proc/{first}").exists()
    ahead.count("two", 600)
    assert not Path(f"/proc/{first}").exists()
    second = ahead.wait_until_begun("two")
    ahead.wait_for("three", lambda: pytest.fail("that is not under way"))
    assert not Path(f"/proc/{second}").exists()
    assert len(ahead.pids("one")) == len(ahead.pids("two")) == 1


def test_it_is_waited_for_until_its_findings_are_enough(ahead):
    ahead.count("one", 600)
    ahead.wait_for("one", lambda: bool(ahead.pids("one")))
    assert not Path(f"/proc/{ahead.pids('one')[0]}").exists()


def test_waiting_can_be_given_up(ahead):
    def stop():
        raise StoppedError

    ahead.count("one", 600)
    with pytest.raises(StoppedError):
        ahead.wait_for("one", stop)


def test_one_that_fails_or_cannot_begin_is_over(ahead, monkeypatch):
    ahead.begin("one", lambda: 1 / 0)
    ahead.wait_for("one", lambda: False)

    def refused():
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refused)
    ahead.count("two")
    ahead.wait_for("two", lambda: pytest.fail("it has not begun"))
    assert ahead.pids("two") == []


def test_noise_stands_for_the_images(small_project):
    project = small_project(classes=5)
    task = noise_task(project, analyse(project.graph, all_layers(), recipe=project.recipe))
    assert task.data.train.x.shape == (100, 8, 8, 1)
    assert task.data.train.x.dtype == np.uint8
    assert sorted(set(task.data.train.y)) == list(range(5)) == list(map(int, task.data.class_names))
    assert task.sizes.batch_size == 50


@pytest.mark.parametrize("reason", ["errors", "downloads", "memory"])
def test_what_cannot_be_trained_here_and_now_ends_another_one(
    ahead, small_project, monkeypatch, reason
):
    project = small_project()
    if reason == "errors":
        project = small_project(("pooling of tomorrow", {}))
    elif reason == "downloads":
        monkeypatch.setattr(ready_benchmark, "missing_weights", lambda _keys: ("weights",))
    else:
        monkeypatch.setattr(ready_benchmark, "available_memory", lambda: 1 << 29)
    ahead.count("one", 600)
    pid = ahead.wait_until_begun("one")
    begin_benchmark(ahead, project)
    assert not Path(f"/proc/{pid}").exists()
