"""What is kept of a model's answers to labeled images."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.inference.runner import answers_of, results_of
from workbench.protocol.trained.calibration import Calibration

RAW = np.array([[0.98, 0.01, 0.01], [0.3, 0.6, 0.1], [0.2, 0.1, 0.7]], np.float32)
LABELS = np.array([0, 0, 2])
RAW_LOSSES = -np.log(RAW[np.arange(3), LABELS])


@pytest.mark.parametrize("temperature", [None, 2.5])
def test_the_loss_of_an_image_is_of_the_probability_beside_it(temperature):
    found = results(temperature)
    is_right = found.predicted == LABELS
    assert is_right.tolist() == [True, False, True]
    assert found.losses[is_right] == pytest.approx(-np.log(found.probability[is_right]), abs=1e-6)
    assert found.losses[1] > -np.log(found.probability[1])


def test_the_mean_loss_is_that_of_training_without_the_temperature():
    assert results(2.5).loss == results(None).loss == pytest.approx(RAW_LOSSES.mean())


def test_a_class_of_no_probability_at_all_has_a_finite_loss_and_a_sure_answer_none():
    answers = answers_of(
        Calibration(), None, np.array([[0, 1.000001]], np.float32), np.zeros((1, 0)), np.zeros(1)
    )
    (never,), (sure,) = (results_of(answers, np.array([label])).losses for label in (0, 1))
    assert 80 < never < 100
    assert sure == 0


def results(temperature):
    found = Calibration(temperature=temperature)
    return results_of(answers_of(found, None, RAW, np.zeros((3, 0)), RAW_LOSSES), LABELS)
