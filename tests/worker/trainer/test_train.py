"""Real trainings in real processes: completed, stopped, killed, diverged, refused."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from tests.worker.conftest import ENDLESS
from workbench.errors import GraphError, RunFolderError
from workbench.protocol.events import (
    Batch,
    CheckpointKept,
    DataReady,
    EpochFinished,
    Heartbeat,
    PhaseChanged,
    RunStarted,
)
from workbench.protocol.trained.evaluate import Evaluate
from workbench.runs.control import request_stop
from workbench.runs.folder import create_run
from workbench.runs.library.index import list_runs
from workbench.runs.log.event_log import read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.start import start_trainer
from workbench.runs.state.outcome import outcome_of
from workbench.runs.store.weights_file import read_arrays
from workbench.targets.this_computer import computes_bfloat16
from workbench.worker.process.failure import DivergedError

pytestmark = pytest.mark.worker


def test_a_training_is_completed_logged_and_kept(trainer, small_project):
    training = trainer(small_project(schedule="cosine"))
    finished = training.finish()
    run = training.run

    assert finished.outcome == "completed"
    assert finished.epochs_done == 3
    assert finished.test.count == 100
    assert finished.test.accuracy >= 0.95

    (started,) = training.all(RunStarted)
    assert (started.resumed_at_step, started.bit_exact) == (None, None)
    assert started.pid == training.pid
    assert started.plan.words
    phases = list(dict.fromkeys(event.phase for event in training.all(PhaseChanged)))
    assert phases[0] == "starting"
    assert {"importing", "loading", "building", "compiling", "training", "validating"} < set(phases)
    assert phases[-1] == "testing"
    assert training.all(Heartbeat)

    (ready,) = training.all(DataReady)
    assert (ready.num_train, ready.num_validation, ready.num_test) == (540, 60, 100)
    assert ready.steps_per_epoch == 10

    history = MetricHistory()
    history.add_all(training.events)
    assert history.steps.tolist() == list(range(1, 31))
    assert np.isfinite(history.losses).all()
    for number, epoch in enumerate(history.epochs, start=1):
        of_epoch = history.losses[10 * number - 10 : 10 * number]
        assert epoch.epoch == number
        assert epoch.loss == pytest.approx(of_epoch.mean(), rel=1e-5)
        assert epoch.val_accuracy is not None
    rates = [event.learning_rate for event in training.all(Batch)]
    assert rates[-1] < 0.1 * max(rates)

    card = run.model_card()
    assert card.input_shape == [8, 8, 1]
    assert len(card.class_names) == 3
    assert (card.epochs_done, card.kept_epoch) == (3, 3)
    assert card.test == finished.test
    weights = read_arrays(run.weights_path, checksum=card.checksum)
    assert any(name.endswith("/kernel") for name in weights)
    assert outcome_of(run).kind == "completed"
    assert list_runs()[0].test_accuracy == finished.test.accuracy
    assert not run.crash_path.exists()
    assert "Traceback" not in run.log_path.read_text()


@pytest.mark.full
def test_names_longer_than_a_line_of_the_log_keep_no_training_from_its_end(
    train_here, small_project, tmp_path
):
    classes, path = 1_000, tmp_path / "many.npz"
    names = [f"{number:03} ".ljust(99, "x") + "." for number in range(classes)]
    pictures = np.zeros((2 * classes, 8, 8, 1), np.uint8)
    labels = np.arange(2 * classes) // 2
    np.savez(path, x_train=pictures, y_train=labels, x_test=pictures, y_test=labels,
             class_names=np.array(names))  # fmt: skip
    trained = train_here(small_project(data=path, classes=classes, epochs=1, validation="none"))
    assert trained.training.is_completed
    assert trained.all(DataReady)[0].class_names == names
    assert trained.run.model_card().class_names == names


@pytest.mark.full
def test_the_same_seed_gives_the_same_curve(trainer, train_here, small_project):
    """Also in another process, and after other trainings there."""
    augmented = [("random_flip", {}), ("rescaling", {}), ("conv2d", {"filters": 4})]
    augmented.append(("dropout", {"rate": 0.2}))
    first = trainer(small_project(*augmented, seed=5))
    first.finish()
    runs = [first, *(train_here(small_project(*augmented, seed=seed)) for seed in (5, 6))]
    curves = []
    for training in runs:
        history = MetricHistory()
        history.add_all(training.events)
        curves.append((history.losses.tolist(), [e.val_loss for e in history.epochs]))
    assert curves[0] == curves[1]
    assert curves[0] != curves[2]


def test_stop_keeps_the_weights(trainer, small_project):
    training = trainer(small_project(**{**ENDLESS, "precision": "auto"}))
    training.wait_for(EpochFinished, count=2)
    request_stop(training.run)
    finished = training.finish()
    assert finished.outcome == "stopped"
    was_measured = any(event.phase == "measuring" for event in training.all(PhaseChanged))
    assert was_measured == computes_bfloat16()  # else there is one way only
    assert 2 <= finished.epochs_done < ENDLESS["epochs"]
    assert finished.test.accuracy > 0.5
    card = training.run.model_card()
    assert read_arrays(training.run.weights_path, checksum=card.checksum)
    assert outcome_of(training.run).sentence() == "Training stopped; the weights are saved."


@pytest.mark.full
def test_sigterm_is_a_stop(trainer, small_project):
    training = trainer(small_project(**ENDLESS, validation="none"))
    training.wait_for(Batch)
    os.kill(training.pid, signal.SIGTERM)
    assert training.finish().outcome == "stopped"
    assert training.run.has_model()


def test_a_stop_before_the_first_step_has_nothing_to_keep(trainer, small_project):
    training = trainer(small_project())
    request_stop(training.run)
    finished = training.finish()
    assert (finished.outcome, finished.epochs_done) == ("stopped", 0)
    assert not training.run.has_model()


def test_a_killed_trainer_is_reported_and_nothing_logged_is_lost(trainer, small_project):
    training = trainer(small_project(**ENDLESS))
    training.wait_for(CheckpointKept)
    training.kill()
    training.wait_for_end()
    run = training.run
    outcome = outcome_of(run)
    assert outcome.kind == "died"
    assert "killed" in outcome.sentence()
    assert "GB" in outcome.sentence()
    assert len(read_all(run.events_path)) == len(training.events)
    # The weights of a finished epoch were kept: it can still classify.
    card = run.model_card()
    assert card.kept_epoch >= 1
    assert read_arrays(run.weights_path)
    assert list_runs()[0].outcome == "died"


def test_one_run_has_one_trainer(trainer, small_project):
    training = trainer(small_project(**ENDLESS))
    with pytest.raises(RunFolderError, match="already"):
        start_trainer(training.run)


def test_a_training_that_diverges_is_reported_and_keeps_the_last_finite_epoch(
    train_here, small_project
):
    # Raw pixels, no activation, and steps that grow: finite at first, then not.
    middle = [("conv2d", {"filters": 4}), ("conv2d", {"filters": 4})]
    project = small_project(
        *middle, optimizer="sgd", learning_rate=10.0, epochs=50, precision="float32"
    )
    run = create_run(project)
    with pytest.raises(DivergedError, match="diverged") as diverged:
        train_here(project, run)
    assert "learning rate" in diverged.value.fix
    if run.has_model():
        weights = read_arrays(run.weights_path)
        assert all(np.isfinite(array).all() for array in weights.values())


def test_the_best_epoch_is_kept_where_the_recipe_says_so(train_here, small_project):
    recipe = {"keep": "best", "keep_by": "val_loss", "validation": "test", "learning_rate": 0.5}
    trained = train_here(small_project(epochs=6, **recipe))
    card = trained.run.model_card()
    best = min(trained.all(EpochFinished), key=lambda event: event.val_loss)
    # A window that looks on ranks the epochs by what is logged.
    assert [event.keep_by for event in trained.all(RunStarted)] == ["val_loss"]
    assert card.kept_epoch == trained.training.counters.best_epoch.epoch == best.epoch
    assert trained.training.test.accuracy == best.val_accuracy


def test_what_is_tested_are_the_averages_that_are_kept(train_here, service, small_project):
    # Nothing is validated: the test is the only look at the weights.
    recipe = {"ema_decay": 0.999, "keep": "last", "validation": "none", "precision": "float32"}
    trained = train_here(small_project(**recipe))
    test = trained.training.test
    answer = service.done(Evaluate, model=str(trained.run.path))
    assert test.loss == pytest.approx(answer.loss, rel=1e-4)
    assert test.accuracy == pytest.approx(answer.accuracy)


def test_epochs_of_a_chosen_number_of_steps(train_here, small_project):
    trained = train_here(small_project(steps_per_epoch=7, epochs=2, validation="none"))
    assert trained.training.is_completed
    assert [event.step for event in trained.all(EpochFinished)] == [7, 14]
    assert all(event.val_loss is None for event in trained.all(EpochFinished))


def test_a_batch_larger_than_the_data_is_made_smaller_and_logged(train_here, small_project):
    trained = train_here(small_project(batch_size=5_000, epochs=1))
    assert trained.training.is_completed
    assert trained.all(DataReady)[0].steps_per_epoch == 1
    told = [event.text for event in trained.events if hasattr(event, "level")]
    assert any("540" in text and "5,000" in text for text in told), told


@pytest.mark.full_but("adam")
@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw", "rmsprop"])
def test_every_optimizer_learns(train_here, small_project, optimizer):
    rate = 0.01 if optimizer == "rmsprop" else 0.05
    project = small_project(
        optimizer=optimizer, learning_rate=rate, weight_decay=0.001, nesterov=True, epochs=4
    )
    assert train_here(project).training.test.accuracy > 0.8


@pytest.mark.full_but("float32")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_normalization_learns_from_the_training_part(
    train_here, small_project, stripes_npz, precision
):
    trained = train_here(small_project(("normalization", {}), precision=precision))
    assert trained.training.test.accuracy > 0.8
    weights = read_arrays(trained.run.weights_path)
    (mean,) = [array for name, array in weights.items() if name.endswith("/mean")]
    with np.load(stripes_npz) as file:
        assert mean.ravel()[0] == pytest.approx(file["x_train"].mean(), rel=0.02)


def test_a_missing_data_file_fails_before_tensorflow_is_there(trainer, small_project, tmp_path):
    training = trainer(small_project(data=tmp_path / "nowhere.npz"))
    finished = training.finish()
    assert finished.outcome == "failed"
    assert finished.error.what == "There is no such file."
    assert "nowhere.npz" in finished.error.where
    assert "compiling" not in [event.phase for event in training.all(PhaseChanged)]
    assert outcome_of(training.run).sentence().startswith("There is no such file.")


def test_a_network_with_other_outputs_than_classes_is_refused(train_here, small_project):
    with pytest.raises(GraphError) as refused:
        train_here(small_project(classes=5))
    assert "5 outputs" in refused.value.what
    assert "3" in refused.value.fix


def test_a_network_that_cannot_train_is_refused(train_here, small_project):
    with pytest.raises(GraphError, match="max_pooling2d"):
        train_here(small_project(("max_pooling2d", {"pool_size": (64, 64)})))
