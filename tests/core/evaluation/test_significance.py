"""Tests of two accuracies, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from workbench.core.evaluation.significance import (
    chi_square_mcnemar,
    exact_mcnemar,
    paired_test,
    unpaired_test,
    wilson_interval,
)

PAIRS = [(0, 0), (1, 0), (5, 5), (3, 9), (0, 12), (40, 22), (100, 61), (7, 7), (600, 500)]


@pytest.mark.parametrize(("gained", "lost"), PAIRS)
def test_the_exact_test_is_the_binomial_one(gained, lost):
    expected = stats.binomtest(gained, gained + lost, 0.5).pvalue if gained + lost else 1
    assert exact_mcnemar(gained, lost) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("gained", "lost"), [pair for pair in PAIRS if pair[0] != pair[1]])
def test_chi_square_with_continuity_correction(gained, lost):
    statistic = (abs(gained - lost) - 1) ** 2 / (gained + lost)
    expected = stats.chi2.sf(statistic, 1)
    assert chi_square_mcnemar(gained, lost) == pytest.approx(expected, abs=1e-12)


def test_few_discordant_images_are_tested_exactly():
    few, many = paired_test(34, 2, 1), paired_test(1_000, 60, 25)
    assert (few.is_exact, few.p_value, few.is_significant) == (True, 1.0, False)
    assert (many.is_exact, many.is_significant) == (False, True)
    assert chi_square_mcnemar(7, 7) == 1
    assert many.difference == pytest.approx(0.035)


def test_the_interval_is_that_of_resampled_images():
    found = paired_test(200, 30, 14)
    outcomes = np.repeat([1, -1, 0], [30, 14, 156])
    expected = stats.bootstrap((outcomes,), np.mean, n_resamples=20_000, method="percentile", rng=3)
    interval = expected.confidence_interval
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=0.006)
    assert found == paired_test(200, 30, 14)


@pytest.mark.parametrize(
    ("right", "counts"), [((27, 28), (34, 34)), ((700, 780), (1_000, 1_000)), ((1, 90), (3, 100))]
)
def test_two_proportions(right, counts):
    found = unpaired_test(right, counts)
    table = np.array([right, np.subtract(counts, right)])
    expected = stats.chi2_contingency(table, correction=False).pvalue
    assert found.p_value == pytest.approx(expected, abs=1e-12)
    assert found.low < found.difference < found.high
    assert found.is_significant == (found.p_value < 0.05)


def test_equal_proportions_of_one_are_no_difference():
    assert unpaired_test((5, 9), (5, 9)).p_value == 1


@pytest.mark.parametrize(("right", "count"), [(0, 1), (1, 1), (27, 34), (3, 4), (0, 50), (50, 50)])
def test_wilson_interval_is_that_of_scipy(right, count):
    expected = stats.binomtest(right, count).proportion_ci(0.95, method="wilson")
    found = wilson_interval(right, count)
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)
