"""Temperatures that few images justify, against plain formulas, scikit-learn and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.metrics import log_loss

from tests.core.calibration.test_temperature import drawn, softmax
from workbench.core.calibration import (
    CERTAIN,
    FOLDS,
    LEAST_FOR_BELOW,
    cross_validated,
    fit,
    fit_temperature,
    reliability,
    shrunk_temperature,
    uncalibrated,
    with_temperature,
)


def garrote(probabilities, labels):
    """The rule by scipy: the best temperature, and standard errors with numerical derivatives."""
    logs, rows = np.log(probabilities.astype(float)), np.arange(len(labels))

    def losses(scale):
        return -log_softmax(np.exp(scale) * logs, axis=1)[rows, labels]

    best = minimize_scalar(lambda s: losses(s).sum(), bounds=(-3, 3), method="bounded",
                           options={"xatol": 1e-10}).x  # fmt: skip

    def slopes(scale, h=1e-5):
        return (losses(scale + h) - losses(scale - h)) / (2 * h)

    # By the inverse temperature itself the curvature has no term of the slope.
    def by_inverse(scale):
        return slopes(scale) / np.exp(scale)

    h = 1e-4
    curve = (by_inverse(best + h).sum() - by_inverse(best - h).sum()) / (2 * h * np.exp(best))
    own = abs(best) * curve * np.exp(best) / np.sqrt((by_inverse(best) ** 2).sum())
    score = abs(by_inverse(0.0).sum()) / np.sqrt((by_inverse(0.0) ** 2).sum())
    evidence = min(own, score)
    return np.exp(-best * max(0, 1 - (CERTAIN / evidence) ** 2)), evidence


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("count", [40, 150, 1000])
def test_it_is_the_best_temperature_shrunk_by_its_evidence(seed, count):
    probabilities, labels = drawn(1.7 if seed % 2 else 0.6, count=count, seed=seed)
    expected, evidence = garrote(probabilities, labels)
    found = shrunk_temperature(probabilities, labels, may_sharpen=True)
    if found is None:
        assert evidence <= CERTAIN + 1e-3
    else:
        assert found == pytest.approx(expected, rel=1e-3)
    blunt = shrunk_temperature(probabilities, labels, may_sharpen=False)
    assert blunt == (found if found is not None and found > 1 else None)


@pytest.mark.parametrize("seed", range(6))
def test_both_sides_are_measured_on_images_that_it_was_not_fitted_on(seed):
    probabilities, labels = drawn(1.8, count=120, seed=seed)
    found = cross_validated(probabilities, labels, may_sharpen=False)
    folds = np.random.default_rng(7).permutation(120) % FOLDS
    after = np.empty_like(probabilities)
    for fold in range(FOLDS):
        rest, own = folds != fold, folds == fold
        part = shrunk_temperature(probabilities[rest], labels[rest], may_sharpen=False)
        after[own] = with_temperature(probabilities[own], part)
    classes = range(probabilities.shape[1])
    for shown, mine, error in (
        (probabilities, found.loss_before, found.error_before),
        (after, found.loss_after, found.error_after),
    ):
        rows = shown.astype(np.float64)
        rows /= rows.sum(axis=1, keepdims=True)
        assert mine == pytest.approx(log_loss(labels, rows, labels=classes), rel=1e-5)
        assert error == pytest.approx(calibration_error(shown, labels), abs=1e-6)
    assert found.loss_change[0] <= found.loss_after - found.loss_before <= found.loss_change[1]
    same = uncalibrated(probabilities, labels)
    assert (same.loss_before, same.error_before) == (found.loss_before, found.error_before)
    assert (same.loss_after, same.error_after) == (same.loss_before, same.error_before)


def calibration_error(probabilities, labels):
    """With 15 bins, by hand."""
    confidence, total = probabilities.max(axis=1).astype(float), 0.0
    is_right = probabilities.argmax(axis=1) == labels
    for low in range(15):
        inside = (confidence > low / 15) & (confidence <= (low + 1) / 15)
        if inside.any():
            total += inside.sum() * abs(confidence[inside].mean() - is_right[inside].mean())
    return total / len(labels)


@pytest.mark.parametrize("count", [20, 38, 75, 150])
def test_few_images_never_make_a_network_surer_or_much_worse(count):
    """Networks that are too sure, not sure enough and as sure as they should be."""
    gains = []
    for seed in range(20):
        probabilities, labels = drawn((0.5, 1.0, 2.0, 3.0)[seed % 4], count=3000, seed=seed)
        found = fit(probabilities[:count], labels[:count])
        assert found.temperature is None or found.temperature > 1
        others, truth = probabilities[count:], labels[count:]
        shown = with_temperature(others, found.temperature)
        gains.append(log_loss(truth, as_sums(others)) - log_loss(truth, as_sums(shown)))
        error = [calibration_error(each, truth) for each in (others, shown)]
        assert gains[-1] > -0.005
        assert error[1] < error[0] + 0.01
        assert bool(found.reason) == (found.temperature is None)
    assert np.mean(gains) >= 0


def as_sums(probabilities):
    rows = probabilities.astype(np.float64)
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_many_images_are_fitted_as_without_shrinking(temperature):
    probabilities, labels = drawn(temperature, count=1000)
    found = fit(probabilities, labels)
    assert found.temperature == pytest.approx(fit_temperature(probabilities, labels), rel=0.02)
    assert found.measured.helps
    assert found.measured.loss_change[1] < 0


def test_the_reason_names_the_images():
    probabilities, labels = drawn(1.0, count=38, seed=3)
    assert fit(probabilities, labels).reason == (
        "38 validation images are too few to show that a temperature helps"
    )
    probabilities, labels = drawn(1.0, count=LEAST_FOR_BELOW)
    assert (
        fit(probabilities, labels).reason == "300 validation images show no need for a temperature"
    )
    right = fit(probabilities, probabilities.argmax(axis=1))
    assert "all 300 validation images are classified correctly" in right.reason
    assert right.temperature is right.measured is None


def test_what_does_not_help_images_left_out_is_not_kept():
    worse = 0
    for seed in range(200):
        probabilities, labels = drawn(1.35, count=60, seed=seed)
        if shrunk_temperature(probabilities, labels, may_sharpen=False) is None:
            continue
        measured = cross_validated(probabilities, labels, may_sharpen=False)
        assert (fit(probabilities, labels).temperature is None) == (not measured.helps)
        worse += not measured.helps
    assert worse


def test_answers_that_say_nothing_have_no_temperature():
    probabilities = softmax(np.zeros((40, 4)))
    labels = np.arange(40) % 4
    assert shrunk_temperature(probabilities, labels, may_sharpen=True) is None
    assert reliability(probabilities.max(axis=1), labels == 0).error == 0
