"""Wrong labels against features whose classes are known."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.data_check import label_scores as module
from workbench.core.data_check.label_scores import NEIGHBORS, label_scores


def clouds(count, num_classes=3, spread=0.6, seed=1):
    """Features around a point for each class, and their classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % num_classes
    centers = rng.normal(0, 1, (num_classes, 16))
    return (centers[labels] + rng.normal(0, spread, (count, 16))).astype(np.float32), labels


def test_wrong_labels_come_first_with_the_right_class():
    features, right = clouds(300)
    labels = right.copy()
    wrong = np.array([3, 50, 101, 202])
    labels[wrong] = (right[wrong] + 1) % 3
    scores = label_scores(features, labels, 3)
    first = np.argsort(-scores.margin)[: len(wrong)]
    assert sorted(first.tolist()) == wrong.tolist()
    assert scores.other[wrong].tolist() == right[wrong].tolist()
    assert (scores.votes[wrong] > NEIGHBORS / 2).all()
    others = np.setdiff1d(np.arange(300), wrong)
    assert (scores.margin[others] < 0).all()


def test_the_same_images_have_the_same_scores_each_time():
    features, labels = clouds(60)
    first, again = label_scores(features, labels, 3), label_scores(features, labels, 3)
    assert np.array_equal(first.margin, again.margin)


@pytest.mark.parametrize("count", [4, 7])
def test_few_images_and_a_class_without_any_are_scored(count):
    features, labels = clouds(count, num_classes=2)
    scores = label_scores(features, labels, 4)
    assert np.isfinite(scores.margin).all()
    assert set(scores.other.tolist()) <= {0, 1, 2, 3}


def test_of_very_many_images_some_are_compared_with(monkeypatch):
    monkeypatch.setattr(module, "_MOST_REFERENCES", 40)
    features, right = clouds(700)
    labels = right.copy()
    labels[5] = (right[5] + 1) % 3
    scores = label_scores(features, labels, 3)
    assert scores.margin.argmax() == 5


def test_equal_features_tell_nothing_and_end_in_numbers():
    labels = np.arange(30) % 3
    assert np.isfinite(label_scores(np.ones((30, 4), np.float32), labels, 3).margin).all()
