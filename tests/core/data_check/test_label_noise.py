"""Rates of wrong labels against those that labels were made by."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.data_check import label_scores as module
from workbench.core.data_check.label_scores import fitted_noise, no_noise


def made(rates, count=20_000, sharpness=0.15, seed=2):
    """Probabilities, and labels that were made of them by rates."""
    rng = np.random.default_rng(seed)
    classes = len(rates)
    chances = rng.dirichlet(np.full(classes, sharpness), count)
    true = (rng.random((count, 1)) > chances.cumsum(1)).sum(1).clip(max=classes - 1)
    whole = np.array(rates) + np.diag(1 - np.sum(rates, axis=1))
    labels = (rng.random((count, 1)) > whole[true].cumsum(1)).sum(1).clip(max=classes - 1)
    return chances, labels, true


RATES = [[0.0, 0.08, 0.0], [0.0, 0.0, 0.0], [0.01, 0.02, 0.0]]


def test_the_rates_of_each_pair_are_found():
    chances, labels, true = made(RATES)
    noise = fitted_noise(chances, labels)
    assert noise.rates == pytest.approx(np.array(RATES), abs=0.012)
    assert noise.share == pytest.approx((labels != true).mean(), abs=0.01)
    assert noise.fit > no_noise(chances, labels).fit + 100
    wrong = noise.wrong(chances, labels)
    for low, high in ((0, 0.1), (0.1, 0.4), (0.4, 0.7), (0.7, 1.01)):
        among = (wrong >= low) & (wrong < high)
        real = (labels != true)[among].mean()
        assert real == pytest.approx(wrong[among].mean(), abs=0.12), "as often as it says"


def test_right_labels_have_no_rates():
    chances, labels, _ = made(np.zeros((3, 3)))
    noise = fitted_noise(chances, labels)
    assert noise.share < 0.005
    assert noise.fit < no_noise(chances, labels).fit + 2
    assert (no_noise(chances, labels).wrong(chances, labels) == 0).all()


def test_of_very_many_classes_all_pairs_have_one_rate(monkeypatch):
    monkeypatch.setattr(module, "MOST_CLASSES", 3)
    rates = np.full((4, 4), 0.02) - np.diag(np.full(4, 0.02))
    chances, labels, true = made(rates)
    noise = fitted_noise(chances, labels)
    assert noise.rates.shape == (4, 1)
    assert noise.rates == pytest.approx(np.full((4, 1), 0.02), abs=0.004)
    assert noise.wrong(chances, labels).mean() == pytest.approx((labels != true).mean(), abs=0.01)


def test_a_label_is_right_more_often_than_not():
    chances = np.full((40, 2), (0.999, 0.001))
    noise = fitted_noise(chances, np.ones(40, np.int64))
    assert noise.rates.sum(axis=1).max() <= 0.5 + 1e-9
    monkeys = fitted_noise(np.full((40, 2), 0.5), np.arange(40) % 2)
    assert np.isfinite(monkeys.fit)


def test_probabilities_of_zero_end_in_numbers():
    chances = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]] * 10)
    labels = np.array([0, 1, 1] * 10)
    for noise in (fitted_noise(chances, labels), no_noise(chances, labels)):
        assert np.isfinite(noise.fit)
        assert np.isfinite(noise.wrong(chances, labels)).all()
