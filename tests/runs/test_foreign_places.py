"""A run folder from elsewhere decides nothing about whom this computer connects to."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.hostile import Listener
from workbench.core.projects.project import Choice, Project
from workbench.errors import RunError
from workbench.hardware.cluster import CLUSTER_NAME, Cluster
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.home import data_home
from workbench.runs.link import Remote, plain_target, write_remote
from workbench.runs.start import start_trainer
from workbench.runs.state import queue
from workbench.runs.trust import (
    UnknownPlaceError,
    check_known,
    is_known,
    places_of,
    remember,
    seal_cluster,
    sealed_cluster,
)
from workbench.templates import find_template


@pytest.fixture
def listener():
    with Listener() as server:
        yield server


def planted(listener, index=1):
    """A run folder that claims to wait, and names a stranger as the chief, or as one of others."""
    run = create_run(find_template("fashion_convnet").project, path=data_home() / "runs" / "X")
    machines = [f"127.0.0.1:{listener.port}", "127.0.0.1:1"]
    cluster = Cluster(tuple(machines[:: 1 if index else -1]), index, "attacker")
    (run.path / CLUSTER_NAME).write_text(cluster.text())
    (run.path / queue.MARKER_NAME).write_text("{}")
    return run


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


DOORS = {
    "queue start": ("workbench", "queue", "start", "X"),
    "queue start, agreed": ("workbench", "queue", "start", "X", "--connect"),
    "resume": ("workbench", "resume", "X", "--connect"),
    "join": ("workbench.worker", "join"),
    "train": ("workbench.worker", "train"),
}


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("door", DOORS)
def test_a_foreign_cluster_is_refused_before_anything_is_contacted(listener, door, index):
    run = planted(listener, index)
    before = run.request_path.read_bytes()
    words = DOORS[door]
    if words[0] == "workbench.worker":
        words = (*words, str(run.path))
    done = command(*words)
    assert done.returncode != 0
    said = done.stdout + done.stderr + _logged(run)  # a trainer reports in its log
    assert "machines to train with that were not named on this computer" in said
    assert f"127.0.0.1:{listener.port}" in said
    assert listener.greetings == []
    assert run.request_path.read_bytes() == before
    assert not run.is_alive()


def _logged(run):
    return run.events_path.read_text() if run.events_path.exists() else ""


@pytest.mark.parametrize("index", [0, 1])
def test_the_queue_and_the_window_start_it_no_other_way(listener, index):
    run = planted(listener, index)
    assert queue.start_next(run.path.parent) is None
    for start in (queue.start_now, start_trainer):
        with pytest.raises(RunError, match="not named on this computer"):
            start(run)
    queue.cancel(run)
    queue.enqueue(run)  # a person puts it into the queue: its turn ends it in words
    assert queue.start_next(run.path.parent) is None
    assert "not named on this computer" in _logged(run)
    assert listener.greetings == []


def test_what_was_named_here_counts_for_this_request_and_this_user(listener, tmp_path, monkeypatch):
    run = planted(listener)
    seal_cluster(run)
    assert sealed_cluster(run).key == "attacker"
    copy = RunFolder(shutil.copytree(run.path, tmp_path / "copy"))
    assert sealed_cluster(copy) is not None  # the content counts, not the place
    request = json.loads(copy.request_path.read_text())
    copy.request_path.write_text(json.dumps({**request, "title": "another"}))
    with pytest.raises(RunError, match="not named"):
        sealed_cluster(copy)
    text = (run.path / CLUSTER_NAME).read_text()
    (run.path / CLUSTER_NAME).write_text(text.replace('"index":1', '"index":0'))
    with pytest.raises(RunError, match="not named"):
        sealed_cluster(run)
    (run.path / CLUSTER_NAME).write_text(text)
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "another user"))
    with pytest.raises(RunError, match="not named"):
        sealed_cluster(run)


@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "text"])
def test_what_is_no_description_is_refused_at_once(tmp_path, kind):
    run = create_run(Project(), path=tmp_path / "run")
    path = run.path / CLUSTER_NAME
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("/dev/zero")
    else:
        path.write_text("[[[")
    with pytest.raises(RunError):
        sealed_cluster(run)


def test_one_question_names_all_addresses_of_a_run(tmp_path):
    data = Choice("tfrecord", {"path": "https://images.example/a.tfrecord"})
    base = find_template("fashion_convnet").project
    target = Choice("ssh", {"host": "trainer.example"})
    run = create_run(
        Project(graph=base.graph, recipe=base.recipe, dataset=data, target=target),
        path=tmp_path / "run",
    )
    other = Choice("ssh", {"host": "other.example"})
    write_remote(run, Remote(target=plain_target(other), host="a friend", run="r"))
    with pytest.raises(UnknownPlaceError) as caught:
        check_known(*places_of(run))
    for host in ("images.example", "trainer.example", "other.example"):
        assert host in caught.value.where
    with pytest.raises(UnknownPlaceError):
        queue.enqueue(run)
    remember(target)
    with pytest.raises(UnknownPlaceError) as caught:
        start_trainer(run)
    assert "images.example" in caught.value.where
    assert "trainer.example" not in caught.value.where
    remember(*caught.value.targets)
    assert is_known(*places_of(run))
