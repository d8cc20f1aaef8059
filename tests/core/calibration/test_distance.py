from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from workbench.core.calibration import (
    FAR,
    KEPT_SHARE,
    LEAST_FOR_LIMIT,
    LEAST_KEPT,
    LEAST_REFERENCES,
    MOST_BYTES,
    MOST_REFERENCES,
    distances,
    leave_one_out,
    limit_of,
    reference_places,
    references,
    unknown_reason,
    unknown_words,
)


def clusters(count, seed):
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(0).normal(size=(3, 40))
    return (centers[rng.integers(0, 3, count)] + 0.3 * rng.normal(size=(count, 40))).astype("f4")


def test_images_of_other_directions_are_beyond_the_limit():
    kept = references(clusters(300, 1))
    limit = limit_of(distances(clusters(400, 2), kept), kept).value
    assert np.mean(distances(clusters(400, 3), kept) <= limit) == pytest.approx(
        KEPT_SHARE, abs=0.04
    )
    others = np.random.default_rng(4).normal(size=(400, 40)).astype("f4")
    assert np.mean(distances(others, kept) > limit) > 0.99


@pytest.mark.parametrize("count", [22, 40, 99])
def test_few_validation_images_are_joined_by_training_images_that_are_like_them(count):
    """Each training image is left out in turn: the limit is as sure as all of them make it."""
    kept = references(clusters(300, 1))
    found = distances(clusters(count, 2), kept)
    limit = limit_of(found, kept)
    assert limit.with_training
    assert limit.count == 300 + count
    others = distances(clusters(2000, 3), kept)
    assert np.mean(others <= limit.value) == pytest.approx(KEPT_SHARE, abs=0.03)
    pooled = np.concatenate([found, leave_one_out(kept)])
    assert limit.value == pytest.approx(np.quantile(pooled, KEPT_SHARE))
    assert limit.within == (pooled <= limit.value).sum()


def test_an_image_left_out_is_measured_from_the_others():
    kept = references(clusters(60, 1))
    one_by_one = [distances(kept[[i]], np.delete(kept, i, axis=0))[0] for i in range(60)]
    assert leave_one_out(kept) == pytest.approx(one_by_one, abs=1e-3)  # rows of float16


@pytest.mark.parametrize(("count", "rank"), [(5, 5), (21, 21), (22, 22), (38, 37), (99, 94)])
def test_training_images_nearer_to_one_another_leave_a_wide_limit_of_validation_images(count, rank):
    """Copies in the training part, or a layer that was trained on it. The rank is that of a
    tolerance limit: by the binomial distribution, 90% of all are within it, nine times in ten.
    """
    rows = clusters(300, 1)
    kept = references(np.concatenate([rows] * 6))
    found = distances(clusters(count, 2), kept)
    limit = limit_of(found, kept)
    assert not limit.with_training
    assert limit.count == count
    assert limit.value == max(np.sort(found)[rank - 1], np.quantile(found, KEPT_SHARE))
    if count >= LEAST_FOR_LIMIT:
        assert binom.sf(rank - 1, count, LEAST_KEPT) <= 0.1 < binom.sf(rank - 2, count, LEAST_KEPT)


def test_a_distance_is_that_to_the_fifth_nearest_by_the_cosine():
    rows = clusters(60, 1)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    expected = 1 - np.sort(unit[:7] @ unit.T, axis=1)[:, -5]
    assert distances(rows[:7], references(rows)) == pytest.approx(expected, abs=2e-3)
    assert distances(100 * rows[:7], references(rows)) == pytest.approx(expected, abs=2e-3)


def test_outputs_that_are_all_zero_are_far_and_not_undefined():
    kept = references(clusters(60, 1))
    assert distances(np.zeros((1, 40), np.float32), kept) == pytest.approx([1.0])


def test_references_are_few_and_small():
    assert len(reference_places(100_000, 64)) == MOST_REFERENCES
    assert 2 * 1280 * len(reference_places(100_000, 1280)) <= MOST_BYTES
    assert len(reference_places(120, 64)) == 120
    assert len(reference_places(LEAST_REFERENCES - 1, 64)) == 0
    assert len(reference_places(100_000, MOST_BYTES)) == 0
    places = reference_places(5000, 64)
    assert np.array_equal(places, reference_places(5000, 64))
    assert (np.diff(places) > 0).all()


@pytest.mark.parametrize(
    ("probability", "parts", "expected"),
    [
        (0.54, {"least": 0.7}, "not confident enough (54.0% < 70.0%)"),
        (0.69999, {"least": 0.7}, "not confident enough (69.9990% < 70.0000%)"),
        (0.7, {"least": 0.7}, ""),
        (0.1, {"least": None}, ""),
        (0.9, {"least": 0.7, "distance": 0.6, "limit": 0.5}, FAR),
        (0.9, {"least": 0.7, "distance": 0.6, "limit": None}, ""),
        (0.9, {"least": None, "distance": None, "limit": 0.5}, ""),
        (0.9, {"least": None, "distance": float("nan"), "limit": 0.5}, FAR),
        (
            0.2,
            {"least": 0.7, "distance": 0.4, "limit": 0.5},
            "not confident enough (20.0% < 70.0%)",
        ),
    ],
)
def test_an_answer_is_unknown_for_a_reason(probability, parts, expected):
    assert unknown_reason(probability, **parts) == expected


def test_the_answer_in_words():
    assert unknown_words(FAR) == "Unknown: unlike the training images"
