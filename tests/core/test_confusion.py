from __future__ import annotations

import itertools

import numpy as np
import pytest

from workbench.core.confusion import (
    ConfusedPair,
    balanced_accuracy,
    most_confused,
    order_by_confusion,
    shares_of,
)

COUNTS = np.array([[8, 2, 0], [1, 3, 0], [5, 0, 0]])


def test_shares_of_actual_classes_have_recalls_on_the_diagonal():
    assert shares_of(COUNTS, "actual").tolist() == [[0.8, 0.2, 0], [0.25, 0.75, 0], [1, 0, 0]]


def test_shares_of_predicted_classes_have_precisions_on_the_diagonal():
    shares = shares_of(COUNTS, "predicted")
    assert np.diagonal(shares) == pytest.approx([8 / 14, 3 / 5, 0])
    assert shares.sum(axis=0) == pytest.approx([1, 1, 0])


def test_a_class_without_images_has_shares_of_zero():
    assert shares_of(np.zeros((2, 2), np.int64), "actual").tolist() == [[0, 0], [0, 0]]


def test_pairs_are_by_the_number_of_images_and_never_right_ones():
    pairs = [ConfusedPair(2, 0, 5), ConfusedPair(0, 1, 2), ConfusedPair(1, 0, 1)]
    assert most_confused(COUNTS, 20) == pairs
    assert most_confused(COUNTS, 2) == pairs[:2]
    assert most_confused(np.diag([3, 4]), 20) == []


def test_balanced_accuracy_is_the_mean_recall_of_classes_with_images():
    assert balanced_accuracy(COUNTS) == pytest.approx((0.8 + 0.75 + 0) / 3)
    assert balanced_accuracy(np.array([[3, 1], [0, 0]])) == pytest.approx(0.75)
    assert balanced_accuracy(np.zeros((2, 2), np.int64)) == 0


def test_classes_that_are_confused_are_brought_together():
    """Pairs (0, 3), (1, 4), (2, 5) are confused, the others hardly."""
    counts = np.full((6, 6), 1) + np.diag([90] * 6)
    for first, second in ((0, 3), (1, 4), (2, 5)):
        counts[first, second] = counts[second, first] = 30
    order = order_by_confusion(counts).tolist()
    assert sorted(order) == [0, 1, 2, 3, 4, 5]
    assert all(abs(order.index(a) - order.index(a + 3)) == 1 for a in range(3))


def test_a_chain_of_classes_is_straightened():
    chain = [4, 0, 3, 1, 5, 2]
    counts = np.diag([50] * 6)
    for first, second in itertools.pairwise(chain):
        counts[first, second] = counts[second, first] = 10
    order = order_by_confusion(counts).tolist()
    assert order in (chain, chain[::-1])
    assert order.index(0) < 3  # the direction in which the first class comes early


def test_groups_that_are_never_confused_follow_one_another():
    counts = np.diag([9] * 5)
    counts[0, 4] = counts[1, 2] = 3
    assert order_by_confusion(counts).tolist() == [0, 4, 1, 2, 3]
    assert order_by_confusion(np.diag([9] * 4)).tolist() == [0, 1, 2, 3]
    assert order_by_confusion(np.zeros((0, 0), np.int64)).tolist() == []
