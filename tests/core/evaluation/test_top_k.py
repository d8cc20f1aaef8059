"""Top-k accuracy by the rank of the true class."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.evaluation.ranking import top_k_accuracies

RANKS = np.array([0, 1, 2, 3, 4, 5, 0, 0])


@pytest.mark.parametrize(
    ("num_classes", "expected"),
    [(3, {}), (4, {3: 5 / 8}), (5, {3: 5 / 8}), (6, {3: 5 / 8, 5: 7 / 8})],
)
def test_each_k_below_the_number_of_classes_has_an_accuracy(num_classes, expected):
    assert top_k_accuracies(RANKS, num_classes) == expected


def test_without_images_there_is_none():
    assert top_k_accuracies(RANKS[:0], 10) == {}
