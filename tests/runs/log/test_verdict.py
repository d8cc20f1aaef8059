"""Runs that fail or overfit are named; healthy ones are not."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.protocol.events import DataReady, EpochFinished, Plan, RunStarted
from workbench.runs.log.event_log import EventWriter, read_all
from workbench.runs.log.history import MetricHistory, logged_verdict, verdict


def data(classes=10, validation=10_000):
    return DataReady(
        class_names=[str(i) for i in range(classes)], num_train=60_000, num_validation=validation,
        num_test=10_000, steps_per_epoch=600,
    )  # fmt: skip


def run(loss, val_loss, accuracy, val_accuracy):
    """Epochs of these values; None for all of a column is "not measured"."""
    columns = [
        [None] * len(loss) if c is None else c for c in (loss, val_loss, accuracy, val_accuracy)
    ]
    return [
        EpochFinished(
            epoch=number, step=600 * number, loss=one, val_loss=two, accuracy=three,
            val_accuracy=four, seconds=1.0, images_per_second=1.0,
        )
        for number, (one, two, three, four) in enumerate(zip(*columns, strict=True), 1)
    ]  # fmt: skip


EPOCHS = np.arange(1, 41)
FALLING = 0.9 * np.exp(-EPOCHS / 8) + 0.05
RISING_ACCURACY = 0.95 - 0.4 * np.exp(-EPOCHS / 5)


@pytest.mark.parametrize("start", [2.4, 230.0])  # also where it first falls back to guessing
def test_a_run_at_chance_did_not_learn(start):
    loss = [start, *[2.303] * 4]
    chance = [0.1, 0.0995, 0.1003, 0.1, 0.1]
    words = verdict(run(loss, loss, chance, chance), data())
    assert words == "Did not learn: accuracy stays at chance (10%)"
    assert verdict(run(loss, None, chance, None), data()) == words


def test_a_few_epochs_at_chance_are_not_judged_yet():
    loss = [2.4, 2.303, 2.303]
    assert verdict(run(loss, loss, [0.1] * 3, [0.1] * 3), data()) == ""


def test_a_slow_start_is_no_failure():
    loss = [2.30, 2.28, 2.24, 2.18, 2.10]
    accuracy = [0.101, 0.102, 0.103, 0.103, 0.104]
    assert verdict(run(loss, loss, accuracy, accuracy), data()) == ""
    few = data(classes=5, validation=102)  # 28% of 102 images may still be chance of five classes
    accuracy = [0.22, 0.24, 0.25, 0.27, 0.31]
    assert verdict(run([1.61] * 5, [1.61] * 5, accuracy, accuracy), few) == ""


def test_a_loss_far_above_guessing_has_diverged():
    loss = [3e3, 4e6, 4e10]
    words = verdict(run(loss, loss, [0.1] * 3, [0.1] * 3), data())
    assert words == "Diverged: the training loss is 4e+10; a lower learning rate may help"


def test_overfitting_is_named_with_the_epoch_since_which():
    val = np.where(EPOCHS <= 8, 0.6 - 0.04 * EPOCHS, 0.28 + 0.012 * (EPOCHS - 8))
    epochs = run(FALLING.tolist(), val.tolist(), RISING_ACCURACY.tolist(), [0.9] * 40)
    words = "Overfitting since epoch 8: validation loss rises while training loss falls"
    assert verdict(epochs, data()) == words
    assert verdict(epochs[:11], data()) == ""  # three epochs are no trend


def overfit(lowest=0.2):
    """Epochs whose validation loss is the lowest in epoch 8, between two higher ones."""
    val = np.where(EPOCHS <= 8, 0.6 - 0.04 * EPOCHS, 0.33 + 0.012 * (EPOCHS - 8))
    val[7] = lowest
    return run(FALLING.tolist(), val.tolist(), RISING_ACCURACY.tolist(), [0.9] * 40)


def test_overfitting_is_counted_from_the_lowest_validation_loss():
    epochs = overfit()
    lowest = min(epochs, key=lambda epoch: epoch.val_loss)
    assert verdict(epochs, data()).startswith(f"Overfitting since epoch {lowest.epoch}:")


def started(at=None):
    return RunStarted(
        run="r", target="t", precision="float32", seed=1, versions={}, epochs=40, pid=1,
        plan=Plan(precision="float32"), batch_size=100, resumed_at_step=at,
    )  # fmt: skip


@pytest.mark.parametrize("resumed_epoch", [3, 9, 20])
def test_window_and_log_agree_where_a_run_was_resumed(tmp_path, resumed_epoch):
    """Epochs behind the place where it goes on are void, also before it has made one."""
    path = tmp_path / "events.jsonl"
    again = started(at=600 * resumed_epoch)
    first, second = overfit(), overfit(lowest=0.4)[resumed_epoch:]
    for events in ([started(), data(), *first, again], [again, *second]):
        with EventWriter(path) as writer:
            for event in events:
                writer.write(event)
        history = MetricHistory()
        history.add_all(read_all(path))
        assert logged_verdict(path) == history.verdict
    since = 8 if resumed_epoch >= 8 else 7
    assert history.verdict.startswith(f"Overfitting since epoch {since}:")


@pytest.mark.parametrize(
    "val",
    [
        FALLING + 0.02,
        np.maximum(FALLING, 0.25),  # flat: no better, but no worse either
        0.25 + 0.02 * np.sin(EPOCHS),  # noise
        np.where(EPOCHS == 40, 3.0, FALLING + 0.1),  # one bad epoch
    ],
)
def test_a_healthy_run_has_no_verdict(val):
    accuracy = RISING_ACCURACY.tolist()
    assert verdict(run(FALLING.tolist(), val.tolist(), accuracy, accuracy), data()) == ""


def test_regularization_that_raises_the_training_loss_is_no_failure():
    loss = (1.2 + 0.8 * np.exp(-EPOCHS / 8)).tolist()  # mixup: the training looks poor
    accuracy = [0.3] * 40
    val_accuracy = RISING_ACCURACY.tolist()
    assert verdict(run(loss, FALLING.tolist(), accuracy, val_accuracy), data()) == ""


def test_nothing_is_said_of_nothing(tmp_path):
    assert verdict([], data()) == ""
    assert verdict(run([1.0], [1.0], [0.1], [0.1]), None) == ""
    assert logged_verdict(tmp_path / "missing.jsonl") == ""


def test_a_loss_that_begins_high_and_falls_has_not_diverged():
    """Images that are not scaled: the first epoch's mean is far above guessing."""
    for loss in ([46.0], [400.0, 80.0], [4e3, 9e2, 150.0, 40.0]):
        rising = np.linspace(0.2, 0.5, len(loss)).tolist()
        assert verdict(run(loss, loss, rising, rising), data()) == ""
    stays = [300.0, 280.0, 310.0, 290.0]
    assert verdict(run(stays, stays, [0.1] * 4, [0.1] * 4), data()).startswith("Diverged")
