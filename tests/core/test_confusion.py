from __future__ import annotations

import itertools

import numpy as np
import pytest

from workbench.core.evaluation.confusion import (
    ConfusedPair,
    Confusion,
    balanced_accuracy,
    cohen_kappa,
    most_confused,
    most_confused_classes,
    order_by_confusion,
    shares_of,
)

COUNTS = np.array([[8, 2, 0], [1, 3, 0], [5, 0, 0]])
MATRIX = Confusion.of_dense(COUNTS)


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
    assert most_confused(MATRIX, 20) == pairs
    assert most_confused(MATRIX, 2) == pairs[:2]
    assert most_confused(Confusion.of_dense(np.diag([3, 4])), 20) == []


def test_balanced_accuracy_is_the_mean_recall_of_classes_with_images():
    assert balanced_accuracy(MATRIX) == pytest.approx((0.8 + 0.75 + 0) / 3)
    assert balanced_accuracy(Confusion.of_dense(np.array([[3, 1], [0, 0]]))) == pytest.approx(0.75)
    assert balanced_accuracy(Confusion.of_dense(np.zeros((2, 2), np.int64))) == 0


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


def test_a_matrix_is_its_cells_that_are_not_zero():
    actual = np.array([0, 0, 2, 1, 2, 0])
    predicted = np.array([0, 1, 0, 1, 0, 0])
    matrix = Confusion.of_images(actual, predicted, 4)
    dense = np.zeros((4, 4), np.int64)
    np.add.at(dense, (actual, predicted), 1)
    assert matrix.dense().tolist() == list(matrix.rows()) == dense.tolist()
    assert matrix.actual_totals.tolist() == dense.sum(axis=1).tolist()
    assert matrix.predicted_totals.tolist() == dense.sum(axis=0).tolist()
    assert matrix.right.tolist() == np.diagonal(dense).tolist()
    assert (matrix.total, matrix.count_of(2, 0), matrix.count_of(3, 3)) == (6, 2, 0)
    assert matrix.dense(np.array([2, 0])).tolist() == [[0, 2], [0, 2]]
    again = Confusion.of_dense(dense)
    assert (again.actual == matrix.actual).all()
    assert (again.counts == matrix.counts).all()


def test_of_many_classes_the_most_confused_ones_are_chosen():
    counts = np.diag([5] * 9)
    counts[7, 2], counts[4, 8], counts[1, 7] = 3, 2, 1
    matrix = Confusion.of_dense(counts)
    assert most_confused_classes(matrix, 4).tolist() == [2, 4, 7, 8]
    assert most_confused_classes(matrix, 6).tolist() == [0, 1, 2, 4, 7, 8]
    assert most_confused_classes(matrix, 20).tolist() == list(range(9))


def test_there_is_no_kappa_where_chance_agrees_always():
    assert cohen_kappa(Confusion.of_dense(np.array([[4, 0], [0, 0]]))) is None
    assert cohen_kappa(Confusion.of_dense(np.array([[4, 1], [0, 0]]))) == pytest.approx(0)
