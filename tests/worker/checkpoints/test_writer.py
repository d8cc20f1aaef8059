"""What a training keeps in the background: when, in which order, and after which failures."""

from __future__ import annotations

import time

import msgspec
import numpy as np
import pytest

from workbench.core.projects.project import Project
from workbench.errors import SaveError
from workbench.protocol.events import EpochFinished, Plan
from workbench.runs.folder import create_run
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.checkpoint import (
    DataMark,
    TrainerState,
    checkpoint_path,
    read_best,
    read_checkpoint,
    this_machine,
)
from workbench.runs.store.weights_file import read_arrays
from workbench.worker.checkpoints import writer as checkpoint_keeper
from workbench.worker.checkpoints.writer import CheckpointData, CheckpointWriter

pytestmark = pytest.mark.worker

CARD = ModelCard(class_names=["a"], input_shape=[1, 1, 1], fit="crop", graph={})
BEST = EpochFinished(
    epoch=1,
    step=10,
    loss=1.0,
    accuracy=0.5,
    val_loss=None,
    val_accuracy=None,
    seconds=1.0,
    images_per_second=1.0,
)


def _keepsake(number, card=None, **more):
    state = TrainerState(
        number=number, step=10 * number, epochs_done=number, seconds=1.0,
        plan=Plan(precision="float32"), machine=this_machine({}),
        data=DataMark(num_train=1, num_validation=0, num_test=0, digest=""), best=BEST,
        best_file="best-1.npz",
    )  # fmt: skip
    weights = {"w": np.full(3, number, np.float32)}
    values = {"weights": weights if card else None, "card": card, **more}
    return CheckpointData(state, weights, **values)


def test_the_keeper_writes_the_newest_and_survives_what_it_cannot_write():
    run = create_run(Project())
    reported = []
    keeper = CheckpointWriter(run, before=lambda: None, report=lambda *it: reported.append(it))
    for number in range(1, 51):
        keeper.write_soon(_keepsake(number, CARD))
    keeper.close()
    assert read_checkpoint(run).state.step == 500
    assert read_arrays(run.weights_path)["w"].tolist() == [50.0] * 3
    assert run.model_card().checksum == ""
    keeper.keep_model({"w": np.zeros(3, np.float32)}, CARD, run)
    assert read_arrays(run.weights_path, checksum=run.model_card().checksum)["w"].sum() == 0
    assert reported[-1][0].step == 500
    assert {error for _, error in reported} == {None}

    run.checkpoints_path.rename(run.path / "aside")
    run.checkpoints_path.write_text("in the way")
    failing = CheckpointWriter(run, before=lambda: None, report=lambda *it: reported.append(it))
    failing.write_soon(_keepsake(51))
    failing.close()
    assert isinstance(reported[-1][1], SaveError)


def test_a_checkpoint_is_due_after_a_minute_an_epoch_or_a_failure(monkeypatch):
    run, now = create_run(Project()), time.monotonic()
    keeper = CheckpointWriter(run, before=lambda: None, report=lambda *_: None)
    keeper.close()

    def due_after(seconds):
        monkeypatch.setattr(checkpoint_keeper.time, "monotonic", lambda: now + seconds)
        return keeper.is_due(is_epoch_end=False), keeper.is_due(is_epoch_end=True)

    keeper._pace._at = now
    assert due_after(0.1) == (False, True)  # none was kept yet
    keeper._has_tried = True
    assert due_after(0.1) == (False, False)
    assert keeper.is_due(is_epoch_end=True, is_overdue=True)  # many epochs would be lost
    assert due_after(1.5) == (False, True)
    assert due_after(61.0) == (True, True)
    keeper._pace.took(0.15)  # what a large model costs
    assert due_after(20.0) == (False, False)
    keeper._has_problem = True
    assert due_after(3.0) == (True, True)


def test_a_best_epoch_counts_as_kept_once_all_of_its_keepsake_is():
    run = create_run(Project())
    blocked = checkpoint_path(run, 2)
    blocked.mkdir(parents=True)
    keeper = CheckpointWriter(run, before=lambda: None, report=lambda *_: None)
    keeper.close()
    best = {"w": np.ones(3, np.float32)}
    with pytest.raises(SaveError):
        keeper.write_now(_keepsake(1, CARD, best=best))
    assert keeper.best_file == ""
    assert not run.has_model()
    assert not list(run.checkpoints_path.glob("best-*"))  # nothing names it: it only takes room
    blocked.rmdir()
    keeper.write_now(_keepsake(1, CARD, best=best))
    assert keeper.best_file == "best-1.npz"
    assert read_best(run, keeper.best_file)["w"].tolist() == [1.0] * 3
    assert run.has_model()


def test_the_writer_goes_on_after_an_unexpected_error():
    run, reported = create_run(Project()), []
    keeper = CheckpointWriter(run, before=lambda: None, report=lambda *it: reported.append(it))
    keeper.write_soon(_keepsake(1, best={"w": np.array([object()])}))
    deadline = time.monotonic() + 60
    while not reported and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "TypeError" in reported[0][1].where
    assert not keeper.is_due(is_epoch_end=True)  # tried again after a moment
    keeper.write_soon(_keepsake(2))
    keeper.close()
    assert reported[1][1] is None
    assert read_checkpoint(run).state.number == 2


def test_a_card_of_a_run_that_went_on_names_no_checksum_of_weights_that_are_gone():
    run = create_run(Project())
    first = CheckpointWriter(run, before=lambda: None, report=lambda *_: None)
    first.close()
    first.keep_model({"w": np.zeros(3, np.float32)}, CARD, run)
    stamped = run.model_card()
    assert stamped.checksum
    run.weights_path.unlink()
    run.weights_path.mkdir()  # the weights cannot be written: as far as a kill would let it come
    resumed = CheckpointWriter(run, before=lambda: None, report=lambda *_: None)
    resumed.close()
    with pytest.raises(SaveError):
        resumed.write_now(_keepsake(1, CARD))
    assert run.model_card() == msgspec.structs.replace(stamped, checksum="")
    write_card(run.path, stamped)
    again = CheckpointWriter(run, before=lambda: None, report=lambda *_: None)
    again.close()
    with pytest.raises(SaveError):
        again.keep_model({"w": np.ones(3, np.float32)}, CARD, run)
    assert run.model_card().checksum == ""
