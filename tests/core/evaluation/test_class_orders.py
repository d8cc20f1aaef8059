"""Judging orders of classes, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.stats import binom

from workbench.core.evaluation.significance import (
    FITTED,
    best_order,
    chance_of,
    judge,
)

ORDERS = {"data": (0, 1, 2, 3), "code_point": (0, 2, 3, 1)}


def answers(order, share, count=200, seed=1):
    """Outputs of a network with classes in that order, right for a share of the images."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, len(order), count)
    output = np.argsort(order)[truth]
    wrong = random.random(count) >= share
    output[wrong] = random.integers(0, len(order), int(wrong.sum()))
    return output, truth


@pytest.mark.parametrize("key", ORDERS)
def test_the_order_that_the_images_confirm_is_chosen(key):
    judged = judge(ORDERS, *answers(ORDERS[key], 0.6))
    assert judged.chosen == key
    assert judged.fitted == ()
    assert judged.right[key] == max(judged.right.values())


def test_images_at_chance_confirm_nothing():
    assert judge(ORDERS, *answers(ORDERS["data"], 0.0)).chosen == ""


def test_few_images_confirm_nothing():
    assert judge(ORDERS, *answers(ORDERS["data"], 1.0, count=4)).chosen == ""
    assert judge({"data": (0, 1)}, np.array([0]), np.array([1])).chosen == "data"


def test_an_order_that_is_none_of_them_is_found_and_not_chosen():
    other = (3, 2, 1, 0)
    judged = judge(ORDERS, *answers(other, 0.7))
    assert (judged.chosen, judged.fitted) == ("", other)
    assert judged.right[FITTED] > max(judged.right[key] for key in ORDERS)


def test_a_single_order_is_taken_unless_another_fits_far_better():
    single = {"data": ORDERS["data"]}
    assert judge(single, *answers((0, 1, 2, 3), 0.0)).chosen == "data"
    assert judge(single, *answers((1, 0, 2, 3), 0.8)).fitted == (1, 0, 2, 3)


def test_a_single_order_that_is_worse_than_chance_is_not_taken():
    """So few images cannot show another one to be better."""
    output, truth = answers((1, 0), 1.0, count=8)
    judged = judge({"data": (0, 1)}, output, truth)
    assert judged.right == {"data": 0}
    assert (judged.chosen, judged.fitted) == ("", ())
    assert binom.cdf(0, 8, 0.5) < 0.05 < binom.cdf(2, 8, 0.5)
    half = np.concatenate([output[:6], truth[6:]])
    assert judge({"data": (0, 1)}, half, truth).chosen == "data"


def test_many_classes_are_not_fitted():
    size = 400
    order = tuple(range(size))
    judged = judge({"data": order}, *answers(order[::-1], 1.0, count=800))
    assert (judged.chosen, judged.fitted) == ("data", ())


@pytest.mark.parametrize("seed", range(20))
def test_the_best_order_is_scipys(seed):
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 30))
    predicted, truth = random.integers(0, size, (2, 200))
    counts = np.zeros((size, size), int)
    np.add.at(counts, (predicted, truth), 1)
    order = best_order(predicted, truth, size)
    rows, columns = linear_sum_assignment(-counts)
    assert sorted(order) == list(range(size))
    assert counts[np.arange(size), order].sum() == counts[rows, columns].sum()


def test_outputs_without_images_keep_their_class():
    assert best_order(np.array([0, 0, 0]), np.array([1, 1, 1]), 4) == [1, 0, 2, 3]
    assert best_order(np.zeros(0, int), np.zeros(0, int), 3) == [0, 1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_chance_is_that_of_scipy(seed):
    random = np.random.default_rng(seed)
    hits, share = int(random.integers(0, 81)), float(random.random())
    assert chance_of(hits, 80, share) == pytest.approx(binom.sf(hits - 1, 80, share), abs=1e-9)
