from __future__ import annotations

import numpy as np
import pytest

from workbench.core.calibration import (
    LIMITS,
    fit_temperature,
    mean_loss,
    with_temperature,
)


def softmax(logits):
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (shifted / shifted.sum(axis=1, keepdims=True)).astype(np.float32)


def drawn(temperature, count=20_000, classes=6, seed=1):
    """Probabilities that are too sure by a factor, and labels that are drawn by the true ones."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (count, classes))
    true = softmax(logits).astype(np.float64)
    labels = (true.cumsum(axis=1) < rng.random((count, 1))).sum(axis=1).clip(max=classes - 1)
    return softmax(temperature * logits), labels


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_the_temperature_is_found_that_the_labels_were_drawn_by(temperature):
    assert fit_temperature(*drawn(temperature)) == pytest.approx(temperature, rel=0.03)


@pytest.mark.parametrize("seed", range(5))
def test_no_other_temperature_has_a_lower_loss(seed):
    probabilities, labels = drawn(3.0, count=300, seed=seed)
    found = fit_temperature(probabilities, labels)
    lowest = mean_loss(probabilities, labels, found)
    others = np.exp(np.linspace(np.log(LIMITS[0]), np.log(LIMITS[1]), 400))
    assert lowest <= min(mean_loss(probabilities, labels, other) for other in others) + 1e-12
    calibrated = with_temperature(probabilities, found)
    direct = -np.log(calibrated[np.arange(len(labels)), labels].astype(np.float64)).mean()
    assert lowest == pytest.approx(direct, rel=1e-4)


def test_images_without_an_error_end_at_the_least_temperature():
    probabilities = softmax(np.eye(3)[[0, 1, 2, 0]] * 2)
    assert fit_temperature(probabilities, np.array([0, 1, 2, 0])) == pytest.approx(LIMITS[0])


def test_probabilities_that_were_rounded_to_zero_stay_finite():
    probabilities = np.array([[1, 0, 0], [0, 1, 0]], np.float32)
    found = fit_temperature(probabilities, np.array([0, 2]))
    calibrated = with_temperature(probabilities, found)
    assert np.isfinite(calibrated).all()
    assert np.isfinite(mean_loss(probabilities, np.array([1, 2])))


def test_no_temperature_changes_nothing():
    probabilities = softmax(np.random.default_rng(1).normal(size=(5, 3)))
    assert with_temperature(probabilities, None) is probabilities
    empty = np.zeros((0, 3), np.float32)
    assert with_temperature(empty, 2.0).shape == (0, 3)


@pytest.mark.parametrize("temperature", [0.05, 0.7, 2.0, 20.0])
def test_the_most_probable_class_stays_the_same_also_where_rounding_makes_ties(temperature):
    near = np.float32(1) / 3
    above = np.nextafter(near, np.float32(1))
    probabilities = np.array([[near, above, near], [0.0, 1e-30, 2e-30], [1, 1, 1]], np.float32)
    more = softmax(np.random.default_rng(2).normal(0, 1e-4, (2000, 3)))
    probabilities = np.concatenate([probabilities, more])
    calibrated = with_temperature(probabilities, temperature)
    assert np.array_equal(calibrated.argmax(axis=1), probabilities.argmax(axis=1))
    assert calibrated.sum(axis=1) == pytest.approx(1, abs=1e-5)
