"""What a recipe does to a step: losses, clipping, decay, averages, rates, what is counted."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worker.recipe_loops import BATCH, small, stripes
from workbench.core.training.optimizers import all_optimizers
from workbench.core.training.recipe import TrainingRecipe
from workbench.worker.input.pipeline import evaluation_pipeline
from workbench.worker.step.train_step import Objective, class_weights

pytestmark = pytest.mark.worker

RATES = {"sgd": 0.05, "lamb": 0.02, "lars": 2.0, "lion": 0.001, "adafactor": 0.02, "muon": 0.005}


@pytest.mark.parametrize("optimizer", all_optimizers())
def test_every_optimizer_learns(optimizer):
    rate = RATES.get(optimizer, 0.005)
    net = small(TrainingRecipe(optimizer=optimizer, learning_rate=rate))
    losses = net.train(60, rates=np.full(60, rate, np.float32))
    assert np.isfinite(losses).all()
    assert losses[-10:].mean() < 0.7 * losses[:3].mean()


def test_each_step_has_its_own_rate():
    net = small(TrainingRecipe(optimizer="sgd", momentum=0.0, learning_rate=9.0))
    start = net.weights()
    net.train(3, rates=[0.0, 0.0, 0.0])
    assert all(np.array_equal(a, b) for a, b in zip(start, net.weights(), strict=True))
    full = small(TrainingRecipe(optimizer="sgd", momentum=0.0))
    full.train(1, rates=[0.1])
    half = small(TrainingRecipe(optimizer="sgd", momentum=0.0))
    half.train(1, rates=[0.05])
    for before, whole, part in zip(start, full.weights(), half.weights(), strict=True):
        assert part - before == pytest.approx((whole - before) / 2, rel=1e-3, abs=1e-7)


def test_a_rate_that_is_fed_is_the_same_as_the_optimizers_own():
    own, fed = small(TrainingRecipe(learning_rate=0.01)), small(TrainingRecipe())
    assert np.array_equal(own.train(5), fed.train(5, rates=np.full(5, 0.01, np.float32)))


def test_a_long_gradient_is_shortened_and_a_short_one_is_not():
    plain = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 1.0}
    free = small(TrainingRecipe(**plain))
    start = free.weights()

    def moved(**recipe):
        net = small(TrainingRecipe(**plain, **recipe))
        net.train(1)
        return [a - b for a, b in zip(net.weights(), start, strict=True)]

    length = np.sqrt(sum((part**2).sum() for part in moved()))
    clipped = moved(clip_norm=length / 4)
    assert np.sqrt(sum((part**2).sum() for part in clipped)) == pytest.approx(length / 4, rel=1e-4)
    for a, b in zip(moved(clip_norm=2 * length), moved(), strict=True):
        assert a == pytest.approx(b, rel=1e-5, abs=1e-8)


def test_decay_pulls_kernels_and_may_leave_biases_alone():
    plain = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": 0.1}

    def after_a_step(**recipe):
        net = small(TrainingRecipe(**plain, **recipe))
        net.train(3)
        return net.weights()

    free, all_pulled = after_a_step(), after_a_step(weight_decay=0.5)
    kernels_pulled = after_a_step(weight_decay=0.5, decay_biases=False)
    start = small().weights()
    one = small(TrainingRecipe(**plain, weight_decay=0.5, decay_biases=False))
    one.train(1)
    other = small(TrainingRecipe(**plain))
    other.train(1)
    for before, with_decay, without in zip(start, one.weights(), other.weights(), strict=True):
        pull = 0.05 * before if before.ndim > 1 else 0.0
        assert without - with_decay == pytest.approx(pull, rel=1e-3, abs=1e-6)
    assert not np.array_equal(all_pulled[1], kernels_pulled[1])
    assert not np.array_equal(free[0], kernels_pulled[0])


def test_averages_follow_the_weights_and_come_and_go_exactly():
    net = small(TrainingRecipe(learning_rate=0.05, ema_decay=0.9))
    expected = None
    for _ in range(4):
        net.train(1)
        now = net.weights()
        if expected is None:
            expected = now
        else:
            expected = [0.9 * a + 0.1 * b for a, b in zip(expected, now, strict=True)]
    with net.averaging.applied():
        for average, wanted in zip(net.weights(), expected, strict=True):
            assert average == pytest.approx(wanted, rel=1e-4, abs=1e-6)
    assert all(np.array_equal(a, b) for a, b in zip(net.weights(), now, strict=True))


def test_without_averages_nothing_is_swapped():
    net = small()
    assert not net.averaging.is_on
    before = net.weights()
    with net.averaging.applied():
        assert all(np.array_equal(a, b) for a, b in zip(net.weights(), before, strict=True))


def test_mixed_batches_train_and_count_hits():
    net = small(TrainingRecipe(mixing="cutmix", mixing_alpha=1.0, random_erasing=0.3))
    results = net.loop.train(net.batches, 80, rates=np.full(80, 0.01, np.float32))
    assert results.losses[-20:].mean() < results.losses[:5].mean()
    assert ((results.accuracies >= 0) & (results.accuracies <= 1)).all()
    assert results.accuracies[-20:].mean() > 0.5


def test_xla_computes_the_same_with_all_of_it_on():
    recipe = TrainingRecipe(
        label_smoothing=0.1, clip_norm=1.0, ema_decay=0.9, weight_decay=0.01, mixing="mixup"
    )
    rates = np.linspace(0.001, 0.01, 6, dtype=np.float32)
    plain, compiled = small(recipe), small(recipe, xla=True)
    assert compiled.train(6, rates) == pytest.approx(plain.train(6, rates), rel=1e-4)


# losses ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tf():
    import tensorflow as tf

    return tf


def shares(seed=0, classes=5):
    scores = np.random.default_rng(seed).normal(size=(12, classes)) * 2
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("is_logits", [False, True])
@pytest.mark.parametrize("is_soft", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("loss", ["cross_entropy", "focal", "mean_squared"])
def test_losses_are_those_of_the_formulas(tf, loss, smoothing, is_soft, is_logits):
    probabilities = shares()
    outputs = np.log(probabilities) + 1.5 if is_logits else probabilities
    targets = shares(1) if is_soft else np.eye(5)[np.arange(12) % 5]
    labels = tf.constant(targets, tf.float32) if is_soft else tf.constant(np.arange(12) % 5)
    recipe = TrainingRecipe(loss=loss, label_smoothing=smoothing, focal_gamma=1.5)
    objective = Objective(recipe, is_logits=is_logits)
    smooth = targets * (1 - smoothing) + smoothing / 5

    def formula(t):
        if loss == "mean_squared":
            return ((t - probabilities) ** 2).mean(axis=1)
        weight = (1 - probabilities) ** 1.5 if loss == "focal" else 1.0
        return -(t * weight * np.log(probabilities)).sum(axis=1)

    found = objective.training(labels, tf.constant(outputs, tf.float32))
    assert found.numpy() == pytest.approx(formula(smooth), rel=1e-4)
    judged = objective.evaluation(labels, tf.constant(outputs, tf.float32))
    assert judged.numpy() == pytest.approx(formula(targets), rel=1e-4)


def test_balanced_classes_weigh_the_same_in_all(tf):
    labels = np.array([0] * 60 + [1] * 30 + [2] * 10)
    recipe = TrainingRecipe(class_weights="balanced")
    weights = class_weights(recipe, labels, 4)
    assert class_weights(TrainingRecipe(), labels, 4) is None
    sums = [weights[label] * (labels == label).sum() for label in range(3)]
    assert sums == pytest.approx([100 / 3] * 3)
    assert weights[3] == 0
    plain = Objective(TrainingRecipe(), is_logits=False)
    weighted = Objective(recipe, is_logits=False, class_weights=weights)
    outputs, few = tf.constant(shares(classes=4), tf.float32), tf.constant(np.arange(12) % 3)
    expected = plain.training(few, outputs).numpy() * weights[np.arange(12) % 3]
    assert weighted.training(few, outputs).numpy() == pytest.approx(expected, rel=1e-5)
    soft = tf.one_hot(few, 4)
    assert weighted.training(soft, outputs).numpy() == pytest.approx(expected, rel=1e-4)
    assert np.array_equal(weighted.evaluation(few, outputs), plain.evaluation(few, outputs))


# what is counted ---------------------------------------------------------------------------


def test_scores_are_counted_as_predictions_say():
    net = small(TrainingRecipe(top_k=2, label_smoothing=0.2))
    net.train(4)
    part = stripes(75, seed=9)  # two full batches and a filled one
    scores = net.scores(part)
    pictures = part.x.astype(np.float32)
    for _, layer in net.built.pipeline:
        pictures = layer(pictures)
    outputs = net.built.model(pictures).numpy()
    predicted = outputs.argmax(axis=1)
    expected = np.zeros((3, 3), int)
    np.add.at(expected, (part.y, predicted), 1)
    assert scores.count == 75
    assert scores.accuracy == pytest.approx((predicted == part.y).mean())
    assert np.array_equal(scores.confusion, expected)
    second = np.argsort(outputs, axis=1)[:, -2:]
    assert scores.top_k_accuracy == pytest.approx((second == part.y[:, None]).any(axis=1).mean())
    assert scores.loss == pytest.approx(-np.log(outputs[np.arange(75), part.y]).mean(), rel=1e-4)
    assert small().scores(part).top_k_accuracy is None


def test_scores_are_the_same_to_the_bit_however_calls_are_cut():
    net = small()
    part = stripes(320, seed=4)
    found = []
    for cuts in ([10], [1, 2, 3, 4], [9, 1]):
        layers = [layer for _, layer in net.built.pipeline]
        batches = evaluation_pipeline(part, layers, batch_size=BATCH)
        iterator, sums = net.loop.distribute(batches), None
        for steps in cuts:
            sums = net.loop.evaluate(iterator, steps, sums)
        found.append([value.numpy().tolist() for value in sums])
    assert found[0] == found[1] == found[2]
