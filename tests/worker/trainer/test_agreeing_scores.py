"""What a trainer measures and logs is what is measured again later."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.protocol.events import EpochFinished, RunStarted
from workbench.protocol.trained.evaluate import Evaluate
from workbench.runs.state.preparing import read_speeds

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def doubtful_npz(tmp_path_factory):
    """Stripes in so much noise that many of 3,000 test images lie between two classes."""
    path, random = tmp_path_factory.mktemp("data") / "doubtful.npz", np.random.default_rng(5)

    def part(count):
        labels = np.arange(count) % 3
        images = random.integers(0, 200, (count, 8, 8, 1))
        images[np.arange(count), 1 + 2 * labels] += 25
        return images.astype(np.uint8), labels.astype(np.int64)

    (x_train, y_train), (x_test, y_test) = part(600), part(3_000)
    np.savez(path, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)
    return path


@pytest.mark.full_but("split")
@pytest.mark.parametrize("validation", ["split", "test"])
def test_evaluate_repeats_the_test_of_a_mixed_precision_run_to_the_digit(
    train_here, service, small_project, doubtful_npz, validation
):
    """The trainer computes with fewer digits than what answers later."""
    layers = [("rescaling", {}), ("conv2d", {"filters": 8}), ("batch_normalization", {})]
    trained = train_here(
        small_project(*layers, data=doubtful_npz, precision="bfloat16", validation=validation)
    )
    (started,) = trained.all(RunStarted)
    assert started.precision == "bfloat16"
    test = trained.training.test
    assert test.count == 3_000
    answer = service.done(Evaluate, model=str(trained.run.path))
    assert (test.loss, test.accuracy) == (answer.loss, answer.accuracy)
    card = trained.run.model_card()
    assert card.test == test
    assert answer.weights == card.kept == trained.training.kept
    assert (card.kept.epoch, card.kept.kind, card.kept.is_partial) == (3, "last", False)
    assert card.kept.val_accuracy == trained.all(EpochFinished)[-1].val_accuracy
    if validation == "test":  # the same images, with fewer digits: what it would have been
        assert trained.all(EpochFinished)[-1].val_loss != test.loss


def test_weights_of_the_best_epoch_are_named_and_where_it_was_chosen(train_here, small_project):
    recipe = {"keep": "best", "validation": "test", "ema_decay": 0.9, "precision": "float32"}
    trained = train_here(small_project(**recipe))
    kept = trained.training.kept
    assert kept == trained.run.model_card().kept
    assert kept.epoch == trained.training.counters.best.epoch
    assert (kept.kind, kept.is_averaged, kept.is_chosen_on_test) == ("best", True, True)
    (started,) = trained.all(RunStarted)
    assert started.keep == "best"


@pytest.mark.full
def test_the_speed_of_a_run_is_known_before_it_ends(trainer, small_project):
    training = trainer(small_project(epochs=100_000, precision="float32", xla="off"))
    training.wait_for(EpochFinished, count=3)
    (measured,) = [run for run in read_speeds() if run.run == training.run.name]
    assert measured.images_per_second > 0.0
    assert measured.epoch_factor > 0.5
    training.kill()
