"""Small real trainings: pictures of three stripes, tiny networks, real processes."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.core.training.recipe import TrainingRecipe
from workbench.protocol.bases import Answer, ErrorParts
from workbench.protocol.events import RunFinished
from workbench.protocol.messages import Failed
from workbench.protocol.service_call import ServiceCall
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.home import runs_home
from workbench.runs.log.event_log import EventReader, EventWriter, read_all
from workbench.runs.start import reap, start_trainer

_PATIENCE_S = 240.0

ENDLESS = {"epochs": 100_000, "precision": "float32", "xla": "off"}
"""Recipe of a training that a test ends. Nothing is left to choose: a long one would be
benchmarked for seconds first, which is a matter of tests/worker/execution.
"""


def stripes(count, seed):
    """uint8 (count, 8, 8, 1) with a bright row that marks the class, int64 (count,)."""
    random = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    pictures = random.integers(0, 90, (count, 8, 8, 1), dtype=np.uint8)
    pictures[np.arange(count), 1 + 2 * labels] += 120
    return pictures, labels.astype(np.int64)


@pytest.fixture(scope="session")
def stripes_npz(tmp_path_factory):
    """An npz file: 600 pictures to train on, 100 to test on, three classes."""
    path = tmp_path_factory.mktemp("data") / "stripes.npz"
    (x_train, y_train), (x_test, y_test) = stripes(600, 1), stripes(100, 2)
    np.savez(path, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)
    return path


def chain(*kinds):
    """A graph of (kind, params) nodes one after the other."""
    nodes = [Node(f"n{i}", kind, f"{kind}_{i}", params) for i, (kind, params) in enumerate(kinds)]
    edges = [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)]
    return Graph.of(nodes, edges)


@pytest.fixture
def small_project(stripes_npz):
    """Makes a project with a tiny network; keywords change its recipe."""

    def make(*middle, data=stripes_npz, classes=3, **recipe):
        graph = chain(
            ("input", {"shape": (8, 8, 1)}),
            *(middle or [("rescaling", {})]),
            ("flatten", {}),
            ("dense", {"units": classes, "activation": "softmax"}),
        )
        values = {"epochs": 3, "batch_size": 50, "learning_rate": 0.05, **recipe}
        return Project(
            title="Stripes",
            graph=graph,
            recipe=TrainingRecipe().with_values(**values),
            dataset=Choice("npz", {"path": str(data)}),
        )

    return make


class Trainer:
    """A trainer in a process of its own, and what it has said so far."""

    def __init__(self, run, pid=None):
        self.run = run
        self.reader = EventReader(run.events_path)
        self.events = []
        self.pid = pid

    def wait_for(self, kind, count=1):
        """Reads on until so many events of a kind were said; returns them."""
        deadline = time.monotonic() + _PATIENCE_S
        while len(found := self.all(kind)) < count:
            is_alive = self.run.is_alive()
            new = self.reader.read_new()
            self.events += new
            if not is_alive and not new:
                log = "\n".join(self.run.log_tail(max_lines=60))
                pytest.fail(f"no {kind.__name__}; the trainer is gone:\n{self.events[-3:]}\n{log}")
            if time.monotonic() > deadline:
                pytest.fail(f"no {kind.__name__} within {_PATIENCE_S:.0f} s: {self.events[-3:]}")
            time.sleep(0.02)
        return found

    def all(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    def finish(self):
        """Reads on to the end; returns RunFinished, which is the last event."""
        (finished,) = self.wait_for(RunFinished)
        self.wait_for_end()
        assert self.events[-1] == finished
        assert [event.seq for event in self.events] == list(range(1, len(self.events) + 1))
        assert self.reader.num_bad_lines == 0
        return finished

    def wait_for_end(self):
        """Waits until the process is gone, and reads what it said last."""
        deadline = time.monotonic() + _PATIENCE_S
        while self.run.is_alive():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        self.events += self.reader.read_new()

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)


@pytest.fixture
def _started():
    """The trainers of a test; none is left at its end."""
    started = []
    yield started
    for one in started:
        if one.run.is_alive():
            one.kill()
            one.wait_for_end()
    deadline = time.monotonic() + 10
    while started and time.monotonic() < deadline and reap():
        time.sleep(0.02)


@pytest.fixture
def trainer(_started):
    """Starts trainers; none is left at the end of the test."""

    def start(project):
        run = create_run(project)
        _started.append(Trainer(run, start_trainer(run)))
        return _started[-1]

    return start


@pytest.fixture(scope="session")
def _kept_runs(tmp_path_factory):
    """Folder of completed runs, and which of them is of a project, by its text."""
    return tmp_path_factory.mktemp("kept-runs"), {}


@pytest.fixture
def completed(trainer, _started, _kept_runs):
    """Makes the completed run of a project, whose trainer was a process of its own, in the home of
    this test. It is trained for the first test alone; the others get a copy.
    """
    kept, names = _kept_runs

    def make(project):
        text = project_text(project)
        if text not in names:
            training = trainer(project)
            assert training.finish().outcome == "completed"
            shutil.copytree(training.run.path, kept / training.run.name)
            names[text] = training.run.name
            return training
        path = runs_home() / names[text]
        shutil.copytree(kept / path.name, path)
        _started.append(Trainer(RunFolder(path)))
        _started[-1].finish()
        return _started[-1]

    return make


class TrainedHere:
    """A training that has ended in this process, and what it has said."""

    def __init__(self, run, training):
        self.run = run
        self.training = training
        self.events = read_all(run.events_path)
        assert [event.seq for event in self.events] == list(range(1, len(self.events) + 1))

    def all(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def train_here():
    """Trains in this process as a trainer's process does once it has started. The error that
    ends a training is raised.
    """
    from workbench.worker.checkpoints.training_state import TrainingJob
    from workbench.worker.cluster.members import Peers
    from workbench.worker.process.run_channel import EventLogger, StopSwitch
    from workbench.worker.trainer.training import Training

    def train(project, run=None):
        run = run or create_run(project)
        with EventWriter(run.events_path) as writer:
            job = TrainingJob(run, project, EventLogger(writer), StopSwitch(run))
            training = Training(
                job, checkpoint=None, is_resumed=False, begun=time.monotonic(), peers=Peers()
            )
            training.run()
        return TrainedHere(run, training)

    return train


class Service:
    """A service worker that handles one request after the other.

    Attributes:
        call: The process.
        home: The worker's own home.
    """

    def __init__(self, call: ServiceCall, home: Path) -> None:
        self.call, self.home = call, home
        self._id = 0

    def answers(self, kind, **fields) -> list[Answer]:
        self._id += 1
        return list(self.call.answers(kind(id=self._id, **fields)))

    def done(self, kind, **fields):
        answer = self.answers(kind, **fields)[-1]
        assert not isinstance(answer, Failed), answer
        return answer

    def failed(self, kind, **fields) -> ErrorParts:
        answer = self.answers(kind, **fields)[-1]
        assert isinstance(answer, Failed), answer
        return answer.error


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """A worker for tests that neither end it nor leave anything unread."""
    home = tmp_path_factory.mktemp("service-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_HOME", str(home))
        call = ServiceCall()
    with call:
        yield Service(call, home)
