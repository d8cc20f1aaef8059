"""Checkpoints of a head on a frozen pretrained network: small, frequent, exact, and refused where
the pretrained weights are no longer the same.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from tests.small_projects import network_on
from workbench.backbones import all_backbones
from workbench.core.projects.project import Choice, Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.protocol.events import (
    CheckpointKept,
    EpochFinished,
    PhaseChanged,
    RunFinished,
    RunStarted,
)
from workbench.runs.control import request_stop
from workbench.runs.start import start_trainer
from workbench.runs.state.outcome import outcome_of
from workbench.runs.store.checkpoint import path_of, read_checkpoint, write_checkpoint
from workbench.runs.store.weights_file import read_arrays

pytestmark = pytest.mark.worker

EPOCHS = 400


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """An npz file of 60 small color images in two classes that can be learned."""
    random, labels = np.random.default_rng(3), np.arange(60) % 2
    images = random.integers(0, 160, (60, 64, 64, 3), dtype=np.uint8)
    images[labels == 1, ..., 0] += 90
    path = tmp_path_factory.mktemp("photos") / "photos.npz"
    rest = {"x_test": images[50:], "y_test": labels[50:]}
    np.savez(path, x_train=images[:50], y_train=labels[:50], **rest)
    return path


@pytest.fixture
def head(photos):
    """Makes a project: two units on a frozen pretrained network, trained on cached features."""

    def make(**recipe):
        spec = next(each for each in all_backbones().values() if each.is_bundled)
        values = {"epochs": EPOCHS, "batch_size": 10, "validation": "split", **recipe}
        return Project(
            title="Head",
            graph=network_on(spec, units=2),
            recipe=TrainingRecipe().with_values(**values),
            dataset=Choice("npz", {"path": str(photos)}),
        )

    return make


def curves_of(events):
    last = {event.epoch: event for event in events if isinstance(event, EpochFinished)}
    return [(e.epoch, e.loss, e.accuracy, e.val_loss, e.val_accuracy) for e in last.values()]


@pytest.mark.full_but("best")
@pytest.mark.parametrize("keep", ["last", "best"])
def test_a_kill_near_the_end_of_many_cached_epochs_loses_few_and_says_so_before(
    trainer, train_here, head, keep
):
    killed = trainer(head(keep=keep))
    killed.wait_for(EpochFinished, count=EPOCHS * 97 // 100)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait_for_end()
    done = max(event.epoch for event in killed.all(EpochFinished))
    kept = read_checkpoint(killed.run)
    assert done - kept.state.epochs_done <= EPOCHS * 5 // 100
    size = path_of(killed.run, kept.state).stat().st_size
    assert size < 200_000 < killed.run.weights_path.stat().st_size
    assert sum(path.stat().st_size for path in killed.run.checkpoints_path.iterdir()) < 600_000

    outcome = outcome_of(killed.run)
    assert outcome.kind == "died"
    assert outcome.resumes.startswith(
        f"Resume continues at epoch {kept.state.epochs_done + 1} of {EPOCHS} (checkpoint "
    )
    killed.pid = start_trainer(killed.run, resume=True)
    finished = killed.wait_for(RunFinished)[-1]
    killed.wait_for_end()
    assert finished.outcome == "completed"
    started = killed.all(RunStarted)[-1]
    assert (started.bit_exact, started.resumed_at_step) == (True, kept.state.step)
    whole = train_here(head(keep=keep))
    assert curves_of(killed.events) == curves_of(whole.events)
    left, right = read_arrays(killed.run.weights_path), read_arrays(whole.run.weights_path)
    assert left.keys() == right.keys()
    assert all(np.array_equal(left[name], right[name]) for name in left)


def test_other_frozen_weights_are_refused_in_words(trainer, head):
    stopped = trainer(head(epochs=100_000))
    stopped.wait_for(EpochFinished, count=3)
    request_stop(stopped.run)
    stopped.wait_for(RunFinished)
    stopped.wait_for_end()
    kept = read_checkpoint(stopped.run)
    assert kept.state.given
    state = msgspec.structs.replace(kept.state, given="0" * 64, number=kept.state.number + 2)
    write_checkpoint(stopped.run, state, kept.arrays)
    stopped.pid = start_trainer(stopped.run, resume=True)
    finished = stopped.wait_for(RunFinished, count=2)[-1]
    stopped.wait_for_end()
    assert finished.outcome == "failed"
    assert "frozen layers have other weights" in finished.error.what
    assert finished.can_resume  # once the right file is there again


@pytest.mark.full
def test_a_checkpoint_with_all_weights_still_resumes(trainer, train_here, head, monkeypatch):
    """As an earlier version has written it."""
    from workbench.worker.checkpoints import manager
    from workbench.worker.checkpoints.training_state import snapshot

    with monkeypatch.context() as patch:
        patch.setattr(
            manager,
            "snapshot_of_learned",
            lambda compiled: snapshot(compiled.state_variables()),
        )
        patch.setattr(manager, "given_checksum", lambda _compiled: "")
        from workbench.worker.trainer.training import Training

        done = Training.__dict__["_stop_if_hopeless"]

        def stop_after_two(self, epoch, sizes):
            done(self, epoch, sizes)
            if epoch == 2:
                self._stop.request("of the test")

        patch.setattr(Training, "_stop_if_hopeless", stop_after_two)
        old = train_here(head(epochs=5))
    kept = read_checkpoint(old.run)
    assert (kept.state.epochs_done, kept.state.given) == (2, "")
    pid = start_trainer(old.run, resume=True)
    deadline = time.monotonic() + 240
    while old.run.is_alive() or outcome_of(old.run).kind != "completed":
        assert time.monotonic() < deadline, (pid, old.run.log_tail())
        time.sleep(0.1)
    whole = train_here(head(epochs=5))
    left, right = read_arrays(old.run.weights_path), read_arrays(whole.run.weights_path)
    assert all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.full
def test_a_stop_while_fine_tuning_is_prepared_keeps_all_of_the_head(trainer, head):
    project = head(epochs=60, fine_tuning_after=40, fine_tuning_rate=1e-4, precision="float32")
    nodes = project.graph.nodes
    last = [key for key in project.graph.order if nodes[key].pretrained][-3:]
    graph = project.graph
    for key in last:
        graph = graph.with_node(replace(nodes[key], training="fine_tuning"))
    stopped = trainer(replace(project, graph=graph))
    while not any(e.text == "Preparing fine-tuning" for e in stopped.all(PhaseChanged)):
        stopped.wait_for(PhaseChanged, count=len(stopped.all(PhaseChanged)) + 1)
    request_stop(stopped.run)
    finished = stopped.finish()
    assert finished.outcome == "stopped"
    state = read_checkpoint(stopped.run).state
    if finished.epochs_done == 40:  # on a fast machine fine-tuning may just have begun
        assert state.epochs_done == 40
        assert finished.kept.epoch == 40
    assert state.epochs_done == finished.epochs_done
    resumes = outcome_of(stopped.run).resumes
    assert resumes.startswith(f"Resume continues at epoch {finished.epochs_done + 1} of 60")
    assert stopped.all(CheckpointKept)[-1].epoch == finished.epochs_done
