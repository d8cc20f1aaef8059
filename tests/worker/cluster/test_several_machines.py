"""Two processes on this computer train together; more of it in tests/proofs/several_machines."""

from __future__ import annotations

import os
import signal

import pytest

from tests.proofs import several_machines as proof
from tests.proofs._tiny_runs import Tail, history_of, wait_for_end, write_stripes
from workbench.protocol.events import CheckpointKept, RunFinished, RunStarted
from workbench.runs.control import ask_to_pause
from workbench.runs.folder import create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.start import reap, start_trainer
from workbench.runs.store.checkpoint import has_checkpoint

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_stripes(tmp_path_factory.mktemp("machines") / "stripes.npz")


@pytest.fixture
def home(tmp_path):
    yield tmp_path
    reap()


def test_two_machines_train_what_one_does(data, home):
    """With mixed pictures, synchronized normalization, and the best epoch's weights kept."""
    one = proof.trained(proof.project_of(data, number=1), home)
    two = proof.trained(proof.project_of(data, number=1, machines=proof.LOCAL), home)
    losses, weights = proof.distances(two, one)
    assert losses < proof.TOLERANCE
    assert weights < proof.WEIGHTS_TOLERANCE
    (started,) = [event for event in read_all(two.events_path) if isinstance(event, RunStarted)]
    assert (started.target, started.replicas, started.batch_size) == ("several", 2, 50)
    ours, theirs = history_of(two).finished, history_of(one).finished
    assert ours.test.count == theirs.test.count == 200
    assert ours.test.accuracy == theirs.test.accuracy
    member = two.machine_path(2)  # only the leading machine writes what is kept
    assert not list(member.glob("weights*"))
    assert not (member / "checkpoints").exists()


def test_a_killed_machine_is_told_and_the_run_goes_on(data, home):
    long = proof.project_of(data, epochs=30, machines=proof.LOCAL)
    undisturbed = proof.trained(long, home)
    run = create_run(long, home=home)
    finished, _ = proof.disturbed(run, proof.signal_member(signal.SIGKILL))
    assert finished.outcome == "failed"
    assert finished.error.what == "Machine 2 was lost."
    assert finished.error.received == "its process was terminated by signal 9"
    assert finished.can_resume
    tail = Tail(run)
    start_trainer(run, resume=True)
    tail.until(lambda event: isinstance(event, CheckpointKept))
    ask_to_pause(run)
    paused = tail.until(lambda event: isinstance(event, RunFinished))
    wait_for_end(run)
    assert paused.is_paused
    ends = [e for e in read_all(run.machine_path(2) / "events.jsonl") if isinstance(e, RunFinished)]
    assert ends[-1].is_paused  # all machines ended, and at the same step
    assert has_checkpoint(run)
    start_trainer(run, resume=True)
    wait_for_end(run)
    assert proof.distances(run, undisturbed) == (0.0, 0.0)


def test_a_machine_ends_with_the_leading_one(data, home):
    run = create_run(proof.project_of(data, epochs=60, machines=proof.LOCAL), home=home)
    tail = Tail(run)
    pid = start_trainer(run)
    tail.until(lambda event: isinstance(event, CheckpointKept))
    log = run.machine_path(2) / "events.jsonl"
    follower = Tail(type(run)(run.machine_path(2)))
    os.kill(pid, signal.SIGKILL)
    told = follower.until(lambda event: isinstance(event, RunFinished))
    assert told.error.what == "The chief was lost.", read_all(log)[-3:]
    wait_for_end(type(run)(run.machine_path(2)))
