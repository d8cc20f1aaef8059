"""Validation after every few epochs: which ones, what is decided by them, and a run resumed between."""

from __future__ import annotations

import warnings

import keras
import numpy as np
import pytest

from tests.worker.trainer.test_resume import assert_equal_runs, resume
from workbench.protocol.events import Batch, EpochFinished, RunFinished
from workbench.runs.control import request_pause
from workbench.runs.log.event_log import read_all
from workbench.runs.log.history import MetricHistory

pytestmark = pytest.mark.worker


def validated(epochs):
    return [each.epoch for each in epochs if each.val_loss is not None]


def keras_history(**options):
    """What Keras's own fit logs for the same lengths."""
    x, y = np.random.default_rng(1).random((40, 4)), np.arange(40) % 2
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model.fit(x, y, validation_data=(x, y), verbose=0, **options).history


@pytest.mark.full_but("7-3")
@pytest.mark.parametrize(("epochs", "freq"), [(7, 3), (4, 2), (3, 1), (2, 5)])
def test_the_validated_epochs_are_those_of_keras(train_here, small_project, epochs, freq):
    done = train_here(small_project(epochs=epochs, validation_freq=freq))
    found = validated(done.all(EpochFinished))
    assert found == [epoch for epoch in range(1, epochs + 1) if epoch % freq == 0]
    theirs = keras_history(epochs=epochs, validation_freq=freq)
    assert len(theirs["loss"]) == epochs
    assert len(found) == len(theirs.get("val_loss", []))


def test_the_best_epoch_and_its_weights_are_of_a_validated_one(train_here, small_project):
    done = train_here(small_project(epochs=5, validation_freq=2, keep="best"))
    history = MetricHistory()
    history.add_all(done.events)
    assert history.best.epoch in {2, 4}
    assert done.training.counters.best_epoch.epoch == history.best.epoch


def test_without_a_validated_epoch_the_last_weights_are_kept(train_here, small_project):
    done = train_here(small_project(epochs=2, validation_freq=5, keep="best"))
    assert done.run.weights_path.is_file()
    assert validated(done.all(EpochFinished)) == []


def test_patience_counts_validations_as_in_keras(train_here, small_project):
    """The loss of a rate of nearly 0 does not improve: the first validation is the best."""
    recipe = {"epochs": 20, "validation_freq": 2, "early_stopping_patience": 2}
    done = train_here(small_project(**recipe, learning_rate=1e-12, keep_by="val_accuracy"))
    ours = len(done.all(EpochFinished))
    warnings.filterwarnings("ignore", "Early stopping conditioned on metric")
    stop = keras.callbacks.EarlyStopping("val_loss", patience=2, min_delta=1e9)
    theirs = keras_history(epochs=20, validation_freq=2, callbacks=[stop])
    assert ours == len(theirs["loss"]) == 6


@pytest.mark.full
def test_a_run_that_is_paused_between_validations_goes_on_the_same(
    trainer, train_here, small_project
):
    project = small_project(epochs=40, validation_freq=4, learning_rate=0.01)
    whole = train_here(project)
    first = trainer(project)
    first.wait_for(Batch, 30)
    request_pause(first.run)
    first.wait_for_end()
    resume(first)
    first.wait_for(RunFinished, len(first.all(RunFinished)) + 1)
    first.wait_for_end()
    assert_equal_runs(whole, first.run)
    epochs = [each for each in read_all(first.run.events_path) if isinstance(each, EpochFinished)]
    assert validated(epochs) == list(range(4, 41, 4))
