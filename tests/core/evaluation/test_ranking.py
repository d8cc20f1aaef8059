"""Curves and areas, against scikit-learn; the proof `figures` has more cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve, roc_curve

from tests.proofs.figures import CASES, drawn_case, problems_of
from workbench.core.evaluation.ranking import (
    GRID,
    areas_of,
    curve_of,
    drawn_class,
    drawn_macro,
    micro_curve,
)


@pytest.mark.parametrize("number", range(CASES))
def test_the_figures_are_those_of_scikit_learn(number):
    assert problems_of(drawn_case(number)) == []


def test_a_curve_has_a_point_at_each_distinct_score():
    random = np.random.default_rng(2)
    scores = random.random(80).round(1)
    is_own = random.random(80) < scores
    curve = curve_of(scores, is_own)
    rates, recalls, thresholds = roc_curve(is_own, scores, drop_intermediate=False)
    assert curve.thresholds.tolist() == thresholds.tolist()
    assert curve.recall == pytest.approx(recalls)
    assert curve.false_positive_rate == pytest.approx(rates)
    precision, recall, _ = precision_recall_curve(is_own, scores)
    assert curve.precision[::-1] == pytest.approx(precision)
    assert curve.recall[::-1] == pytest.approx(recall)


def test_many_classes_report_their_progress_and_may_be_in_a_file(tmp_path):
    random = np.random.default_rng(3)
    scores = np.memmap(tmp_path / "scores", np.float32, "w+", shape=(60, 150))
    scores[:] = random.random((60, 150))
    truth = random.integers(0, 150, 60)
    seen = []
    found = areas_of(scores, truth, seen.append)
    assert seen == sorted(seen)
    assert seen[0] == 0
    assert len(found.classes) == 150
    assert found.classes[int(truth[0])].roc_auc is not None
    absent = next(number for number in range(150) if number not in truth)
    assert found.classes[absent].roc_auc is found.classes[absent].average_precision is None


def test_drawn_curves_have_the_areas():
    random = np.random.default_rng(4)
    truth = random.integers(0, 4, 2_000)
    scores = random.dirichlet(np.ones(4), 2_000).astype(np.float32)
    scores[np.arange(2_000), truth] += 0.3
    areas = areas_of(scores, truth)
    one = drawn_class(curve_of(scores[:, 1], truth == 1))
    assert len(one.true_positive_rate) <= 500
    area = np.trapezoid(one.true_positive_rate, one.false_positive_rate)
    assert area == pytest.approx(areas.classes[1].roc_auc, abs=2e-3)
    macro = drawn_macro(scores, truth)
    area = np.trapezoid(macro.true_positive_rate, macro.false_positive_rate)
    assert area == pytest.approx(areas.macro.roc_auc, abs=2e-3)
    assert macro.recall.tolist() == GRID.tolist()
    assert macro.precision.mean() == pytest.approx(areas.macro.average_precision, abs=5e-3)
    micro = micro_curve(scores, truth)
    area = np.trapezoid(micro.recall, micro.false_positive_rate)
    assert area == pytest.approx(areas.micro.roc_auc, abs=1e-12)


def test_a_class_with_all_images_has_a_precision_alone():
    found = areas_of(np.array([[0.9, 0.1], [0.6, 0.4]], np.float32), np.array([0, 0]))
    assert (found.classes[0].roc_auc, found.classes[0].average_precision) == (None, 1.0)
    assert found.macro.roc_auc is None
    drawn = drawn_macro(np.array([[0.9, 0.1], [0.6, 0.4]], np.float32), np.array([0, 0]))
    assert drawn.precision.tolist() == [1.0] * len(GRID)
