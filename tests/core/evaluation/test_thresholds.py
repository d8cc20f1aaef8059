"""Thresholds that are chosen on some images and tried on others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score

from workbench.core.evaluation.ranking import (
    Point,
    Wish,
    chosen_point,
    curve_of,
    point_of,
    refusal_at,
    refusal_of,
)

RANDOM = np.random.default_rng(6)


def drawn(count: int, digits: int):
    """Scores with ties that are higher for images of the class."""
    is_own = RANDOM.random(count) < 0.3
    scores = np.clip(RANDOM.normal(0.4 + 0.2 * is_own, 0.2), 0, 1).round(digits)
    return scores.astype(np.float32), is_own


@pytest.mark.parametrize("digits", [1, 2, 6])
def test_no_threshold_has_a_better_f1(digits):
    scores, is_own = drawn(120, digits)
    found = chosen_point(curve_of(scores, is_own), Wish())
    best = max(f1_score(is_own, scores >= threshold) for threshold in np.unique(scores))
    assert found.f1 == pytest.approx(best, abs=1e-12)
    assert found == point_of(scores, is_own, found.threshold)


@pytest.mark.parametrize("wanted", [0.5, 0.8, 1.0])
def test_the_best_recall_of_a_wanted_precision(wanted):
    scores, is_own = drawn(200, 2)
    found = chosen_point(curve_of(scores, is_own), Wish("precision", precision=wanted))
    points = [point_of(scores, is_own, threshold) for threshold in np.unique(scores)]
    met = [point.recall for point in points if point.precision >= wanted and point.right]
    if not met:
        assert found is None
    else:
        assert found.recall == max(met)
        assert found.precision >= wanted


@pytest.mark.parametrize(("false_alarm", "miss"), [(1, 1), (10, 1), (1, 10), (0, 1), (1, 0)])
def test_the_lowest_cost(false_alarm, miss):
    scores, is_own = drawn(150, 2)
    wish = Wish("cost", false_alarm=false_alarm, miss=miss)
    found = chosen_point(curve_of(scores, is_own), wish)
    costs = []
    for threshold in [*np.unique(scores), np.inf]:
        (_, wrong), (missed, _) = confusion_matrix(is_own, scores >= threshold)
        costs.append(false_alarm * wrong + miss * missed)
    assert found.cost(wish) == min(costs)


def test_a_class_without_images_has_no_threshold():
    scores = np.array([0.5, 0.25], np.float32)
    assert chosen_point(curve_of(scores, np.zeros(2, bool)), Wish()) is None
    worse = curve_of(scores, np.array([False, True]))
    assert chosen_point(worse, Wish("precision", precision=0.9)) is None
    none = Point(math.inf, 0, 0, 0)
    assert (none.precision, none.recall, none.f1) == (None, None, 0)


@pytest.mark.parametrize("costs", [(10, 1), (1, 1), (3, 1), (1, 5), (0, 1), (1, 0)])
def test_no_other_threshold_of_unknown_costs_less(costs):
    probability = RANDOM.random(90).round(1).astype(np.float32)
    is_right = RANDOM.random(90) < probability
    found = refusal_of(probability, is_right, costs)
    others = [0.0, *np.unique(probability).tolist(), math.inf]
    tried = [refusal_at(probability, is_right, costs, threshold) for threshold in others]
    assert found.cost == pytest.approx(min(each.cost for each in tried))
    assert found.cost_without == pytest.approx(costs[0] * (~is_right).mean())
    assert found == refusal_at(probability, is_right, costs, found.threshold)
