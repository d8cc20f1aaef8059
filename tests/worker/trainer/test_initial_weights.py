"""Runs that start from the weights of another run."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.worker.conftest import chain
from workbench.core.projects.project import Choice
from workbench.errors import UsageError, WeightsError
from workbench.protocol.events import LogLine, RunFinished
from workbench.runs.control import request_pause
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.runs.library.compare import compare_runs
from workbench.runs.library.summary import summarise
from workbench.runs.start import start_trainer
from workbench.runs.store.weights_file import (
    INITIAL_NAME,
    create_run_from,
    read_arrays,
    read_initial,
)

pytestmark = pytest.mark.worker

PLAIN = {"precision": "float32", "xla": "off", "validation": "split"}
STANDING = {"optimizer": "sgd", "learning_rate": 1e-6, "epochs": 1}
"""A training that hardly changes the weights it starts from."""


@pytest.fixture
def source(completed, small_project):
    return completed(small_project(**PLAIN, epochs=2)).run


@pytest.fixture
def begun(trainer, monkeypatch):
    """Trains a project from the weights of a run."""

    def begin(run, project):
        made = create_run_from(run, project)
        monkeypatch.setattr("tests.worker.conftest.create_run", lambda _project: made)
        return trainer(project)

    return begin


@pytest.fixture
def begun_here(train_here):
    """As `begun`, in this process."""
    return lambda run, project: train_here(project, create_run_from(run, project))


def weights(run):
    return read_arrays(run.weights_path)


def distance(left, right):
    return max(float(np.abs(left[name] - right[name]).max()) for name in left)


def test_a_run_starts_from_the_weights_of_another(source, begun, small_project):
    before = weights(source)
    training = begun(source, small_project(**PLAIN, **STANDING))
    finished = training.finish()
    assert finished.outcome == "completed"
    assert distance(before, weights(training.run)) < 1e-4
    assert finished.test.accuracy == source_accuracy(source)
    (line,) = (one.text for one in training.all(LogLine) if one.text.startswith("Initial"))
    assert line == f"Initial weights from {source.name}, epoch 2: 1 layer."


def source_accuracy(source):
    return summarise(source).test_accuracy


def test_from_new_weights_it_is_another_network(source, train_here, small_project):
    training = train_here(small_project(**PLAIN, **STANDING))
    assert distance(weights(source), weights(training.run)) > 0.01


def test_a_network_of_other_shapes_is_refused(train_here, begun_here, small_project):
    first = train_here(small_project(("dense", {"units": 6}), **PLAIN, epochs=1))
    graph = chain(
        ("input", {"shape": (8, 8, 1)}),
        ("dense", {"units": 6}),
        ("flatten", {}),
        ("dense", {"units": 3, "activation": "softmax"}),
    )
    project = small_project(**PLAIN, **STANDING)
    kept = begun_here(first.run, replace(project, graph=graph))
    assert distance(weights(first.run), weights(kept.run)) < 1e-4
    other = replace(project, graph=small_project(("dense", {"units": 5})).graph)
    with pytest.raises(WeightsError) as refused:
        begun_here(first.run, other)
    assert refused.value.what == "No layer can start from these weights."
    assert refused.value.received == "other shapes for dense_1, dense_3"


def test_some_layers_start_anew_and_are_named(train_here, begun_here, small_project):
    first = train_here(small_project(("dense", {"units": 6}), ("dense", {"units": 4}), **PLAIN))
    other = small_project(("dense", {"units": 6}), ("dense", {"units": 5}), **PLAIN, **STANDING)
    training = begun_here(first.run, other)
    words = next(one.text for one in training.all(LogLine) if one.text.startswith("Initial"))
    assert words.endswith("1 layer. Not from there: dense_2, dense_4.")


@pytest.mark.full
def test_it_is_resumed_when_the_other_run_is_gone(source, begun, begun_here, small_project):
    project = small_project(**PLAIN, epochs=4)
    whole = begun_here(source, project)
    training = begun(source, project)
    request_pause(training.run)
    training.wait_for(RunFinished)
    training.wait_for_end()
    shutil.rmtree(source.path)
    training.pid = start_trainer(training.run, resume=True)
    assert training.wait_for(RunFinished, count=2)[-1].outcome == "completed"
    assert distance(weights(whole.run), weights(training.run)) == 0


def test_lists_and_comparisons_say_where_the_weights_are_from(source, small_project):
    run = create_run_from(source, small_project(**PLAIN, epochs=2))
    assert f"from {source.name}" in summarise(run).label
    rows = next(part for part in compare_runs(source, run).sections if part.key == "recipe").rows
    assert [(row.title, row.right) for row in rows] == [
        ("Initial weights from", f"{source.name}, epoch 2")
    ]


def test_a_number_names_a_run_of_the_same_project(train_here, small_project):
    project = replace(small_project(**PLAIN, epochs=1), id="a" * 32)
    training = train_here(project)
    assert create_run_from(training.run, project).request().initial.run == "run 1"


def test_what_cannot_be_a_start_makes_no_run(source, small_project):
    project = small_project(**PLAIN)
    before = sorted(runs_home().iterdir())
    nodes = {key: replace(node, name=f"x{key}") for key, node in project.graph.nodes.items()}
    strange = replace(project, graph=replace(project.graph, nodes=nodes))
    with pytest.raises(UsageError, match="another network"):
        create_run_from(source, strange)
    away = replace(project, target=Choice("ssh", {"host": "far"}))
    with pytest.raises(UsageError, match="another computer"):
        create_run_from(source, away)
    source.weights_path.write_bytes(b"nothing")
    with pytest.raises(WeightsError, match="damaged"):
        create_run_from(source, project)
    assert sorted(runs_home().iterdir()) == before


def test_a_full_disk_leaves_no_run(source, small_project, monkeypatch):
    def full(_path, _arrays):
        raise OSError(28, "No space left on device")

    before = sorted(runs_home().iterdir())
    monkeypatch.setattr("workbench.runs.store.weights_file.write_arrays", full)
    with pytest.raises(OSError, match="space"):
        create_run_from(source, small_project(**PLAIN))
    assert sorted(runs_home().iterdir()) == before


def test_exchanged_weights_are_rejected(source, small_project):
    run = create_run_from(source, small_project(**PLAIN))
    assert distance(read_initial(run), weights(source)) == 0
    shutil.copy(source.weights_path, run.path / INITIAL_NAME)
    data = bytearray((run.path / INITIAL_NAME).read_bytes())
    data[len(data) // 2] ^= 1
    (run.path / INITIAL_NAME).write_bytes(data)
    with pytest.raises(WeightsError):
        read_initial(run)
    (run.path / INITIAL_NAME).unlink()
    with pytest.raises(WeightsError, match="missing"):
        read_initial(RunFolder(run.path))
