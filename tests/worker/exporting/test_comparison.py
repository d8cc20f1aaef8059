"""What counts as the same answer, and where two networks part."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.worker.requests.exporting.proof import compare, first_fault, worst_images

SURE = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
LABELS = np.array([0, 1, 1])


def test_rounding_agrees_and_more_does_not():
    near = SURE + np.array([5e-5, -5e-5])
    far = SURE + np.array([[0.0, 0.0], [0.0, 0.0], [2e-4, -2e-4]])
    assert compare(SURE, near, LABELS, is_exact=True).reason == ""
    found = compare(SURE, far, LABELS, is_exact=True)
    assert "0.0002" in found.reason
    assert (found.agreement, found.accuracy, found.model_accuracy) == (1.0, 2 / 3, 2 / 3)


def test_few_bits_may_choose_a_class_that_is_nearly_as_probable():
    close = np.array([[0.52, 0.48]] * 40)
    assert compare(close, close[:, ::-1], None, is_exact=False).reason == ""
    sure = np.array([[0.9, 0.1]] * 40)
    assert "another class" in compare(sure, sure[:, ::-1], None, is_exact=False).reason
    paler = np.array([[0.7, 0.3]] * 40)
    assert "in the mean" in compare(sure, paler, None, is_exact=False).reason


@pytest.mark.parametrize("spoiled", [SURE[:, :1], np.full_like(SURE, np.nan)])
def test_answers_of_another_shape_or_that_are_no_numbers_disagree(spoiled):
    assert compare(SURE, spoiled, LABELS, is_exact=False).reason


def test_the_images_with_the_worst_answers_come_first():
    found = SURE.copy()
    found[2, 0] = np.nan
    found[0, 1] = 0.3
    assert worst_images(SURE, found, 2).tolist() == [2, 0]
    assert worst_images(SURE, found[:, :1], 2).tolist() == [0, 1]


def test_the_first_layer_that_differs_is_found():
    expected = {"a": np.ones((2, 3)), "b": np.ones((2, 3)), "c": np.ones((2, 3))}
    found = {**expected, "b": expected["b"] * 1.1, "c": np.zeros((2, 3))}
    assert first_fault(expected, expected, is_exact=True) is None
    assert first_fault(expected, found, is_exact=True) == "b"
    assert first_fault(expected, found, is_exact=False) == "c"
    assert first_fault(expected, {"a": expected["a"]}, is_exact=False) == "b"
