from __future__ import annotations

import numpy as np
import pytest

from workbench.core.calibration.distance import (
    KEPT_SHARE,
    LEAST_REFERENCES,
    MOST_BYTES,
    MOST_REFERENCES,
    distances,
    limit_of,
    reference_places,
    references,
)
from workbench.core.calibration.verdict import FAR, unknown_reason, unknown_words


def clusters(count, seed):
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(0).normal(size=(3, 40))
    return (centers[rng.integers(0, 3, count)] + 0.3 * rng.normal(size=(count, 40))).astype("f4")


def test_images_of_other_directions_are_beyond_the_limit():
    kept = references(clusters(300, 1))
    limit = limit_of(distances(clusters(400, 2), kept))
    assert np.mean(distances(clusters(400, 3), kept) <= limit) == pytest.approx(
        KEPT_SHARE, abs=0.04
    )
    others = np.random.default_rng(4).normal(size=(400, 40)).astype("f4")
    assert np.mean(distances(others, kept) > limit) > 0.99


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
