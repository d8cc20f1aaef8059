from __future__ import annotations

import numpy as np
import pytest

from workbench.core.calibration import NUM_BINS, kept_counts, reliability


def test_the_error_is_the_mean_gap_of_the_bins_weighted_by_images():
    confidence = np.array([0.95, 0.95, 0.95, 0.95, 0.5])
    found = reliability(confidence, np.array([True, True, True, False, False]))
    assert found.counts[14] == 4
    assert found.counts[7] == 1
    assert found.accuracy[14] == 0.75
    assert found.error == pytest.approx((4 * 0.2 + 1 * 0.5) / 5)


def test_answers_that_are_right_as_often_as_they_say_have_no_error():
    rng = np.random.default_rng(3)
    confidence = rng.random(200_000)
    assert reliability(confidence, rng.random(200_000) < confidence).error < 0.005


@pytest.mark.parametrize("num_images", [25, 361, 10_000])
def test_the_error_by_chance_is_that_of_perfectly_calibrated_answers(num_images):
    rng = np.random.default_rng(4)
    confidence = 0.4 + 0.6 * rng.random(num_images)
    draws = [reliability(confidence, rng.random(num_images) < confidence) for _ in range(300)]
    expected = np.mean([each.error for each in draws])
    assert draws[0].error_by_chance == pytest.approx(expected, rel=0.1)


def test_no_images_have_no_error_by_chance():
    assert reliability(np.zeros(0), np.zeros(0, bool)).error_by_chance == 0


def test_the_ends_of_the_scale_have_a_bin():
    found = reliability(np.array([0.0, 1.0, 1 / NUM_BINS]), np.array([False, True, True]))
    assert found.counts[0] == 2
    assert found.counts[-1] == 1


def test_no_images_have_no_error():
    assert reliability(np.zeros(0), np.zeros(0, bool)).error == 0


def test_a_threshold_keeps_the_images_at_and_above_it():
    kept, right = kept_counts(np.array([0.2, 0.5, 0.9]), np.array([True, False, True]))
    assert (kept[0], right[0]) == (3, 2)
    assert (kept[50], right[50]) == (2, 1)
    assert (kept[51], right[51]) == (1, 1)
    assert (kept[100], right[100]) == (0, 0)
