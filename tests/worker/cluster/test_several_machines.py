"""Two processes on this computer train together; more of it in tests/proofs/several_machines."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest

from tests.proofs import several_machines as proof
from tests.proofs._tiny_runs import Tail, history_of, wait_for_end, write_stripes
from workbench.protocol.events import CheckpointKept, RunFinished, RunStarted
from workbench.runs.control import request_pause
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.start import reap, start_trainer
from workbench.runs.state.preparing import extension_to
from workbench.runs.store.checkpoint import has_checkpoint

pytestmark = pytest.mark.worker


EPOCHS = 16


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_stripes(tmp_path_factory.mktemp("machines") / "stripes.npz")


@pytest.fixture(scope="module")
def project(data):
    """With mixed pictures, synchronized normalization, and the best epoch's weights kept."""
    return proof.project_of(data, number=1, epochs=EPOCHS, machines=proof.LOCAL)


@pytest.fixture(scope="module")
def undisturbed(project, tmp_path_factory):
    run = proof.trained(project, tmp_path_factory.mktemp("undisturbed"))
    reap()
    return run


@pytest.fixture
def home(tmp_path):
    yield tmp_path
    reap()


def test_two_machines_train_what_one_does(data, undisturbed, home):
    one = proof.trained(proof.project_of(data, number=1, epochs=EPOCHS), home)
    losses, weights = proof.distances(undisturbed, one)
    assert losses < proof.TOLERANCE
    assert weights < proof.WEIGHTS_TOLERANCE
    events = read_all(undisturbed.events_path)
    (started,) = [event for event in events if isinstance(event, RunStarted)]
    assert (started.target, started.replicas, started.batch_size) == ("several", 2, 50)
    ours, theirs = history_of(undisturbed).finished, history_of(one).finished
    assert ours.test.count == theirs.test.count == 200
    assert ours.test.accuracy == theirs.test.accuracy
    member = undisturbed.machine_path(2)  # only the leading machine writes what is kept
    assert not list(member.glob("weights*"))
    assert not (member / "checkpoints").exists()


def test_a_run_goes_on_whichever_machine_was_killed(project, undisturbed, home):
    run = create_run(project, home=home)
    member = RunFolder(run.machine_path(2))
    _kill_chief(run, member)
    finished, _ = proof.disturbed(run, proof.signal_member(signal.SIGKILL), resume=True)
    assert finished.outcome == "failed"
    assert finished.error.what == "Machine 2 was lost."
    assert finished.error.received == "its process was terminated by signal 9"
    assert finished.can_resume
    paused, _ = proof.disturbed(run, request_pause, resume=True)
    assert paused.is_paused
    ends = [event for event in read_all(member.events_path) if isinstance(event, RunFinished)]
    assert ends[-1].is_paused  # all machines ended, and at the same step
    assert has_checkpoint(run)
    start_trainer(run, resume=True)
    wait_for_end(run)
    assert proof.distances(run, undisturbed) == (0.0, 0.0)


def _kill_chief(run, member):
    """Of a run that begins: the other machine ends too, and its log says why."""
    tail = Tail(run)
    pid = start_trainer(run)
    tail.until(lambda event: isinstance(event, CheckpointKept))
    follower = Tail(member)
    os.kill(pid, signal.SIGKILL)
    finished = follower.until(lambda event: isinstance(event, RunFinished))
    assert finished.error.what == "The chief was lost.", read_all(member.events_path)[-3:]
    wait_for_end(member)
    wait_for_end(run)


def test_machines_train_longer_together(data, home):
    """The new number of epochs comes to each of them with the request."""
    recipe = {"schedule": "constant", "warmup_epochs": None}
    whole = proof.project_of(data, number=1, epochs=4, machines=proof.LOCAL)
    whole = replace(whole, recipe=whole.recipe.with_values(**recipe))
    short = replace(whole, recipe=whole.recipe.with_values(epochs=2))
    run = proof.trained(short, home)
    start_trainer(run, resume=True, extension=extension_to(run, 4))
    wait_for_end(run)
    assert history_of(run).finished.epochs_done == 4
    assert proof.distances(run, proof.trained(whole, home)) == (0.0, 0.0)
    member = RunFolder(run.machine_path(2))
    assert member.request().to_project().recipe.epochs == 4
