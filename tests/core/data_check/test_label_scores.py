"""Wrong labels against features whose classes are known, and against other implementations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from workbench.core.data_check import label_scores as module
from workbench.core.data_check import label_scores as softmax_head
from workbench.core.data_check.label_scores import (
    LEAST_ERROR,
    NEAREST,
    confident_classes,
    folds_of,
    judged_labels,
    label_scores,
    softmax_weights,
)


def clouds(count, num_classes=3, spread=0.6, seed=1, width=16):
    """Features around a point for each class, and their classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % num_classes
    centers = rng.normal(0, 1, (num_classes, width))
    return (centers[labels] + rng.normal(0, spread, (count, width))).astype(np.float32), labels


def planted(count, share=0.05, **more):
    """Clouds, their labels with some wrong ones, and which these are."""
    features, right = clouds(count, **more)
    classes = int(right.max()) + 1
    rng = np.random.default_rng(7)
    wrong = rng.choice(count, round(share * count), replace=False)
    labels = right.copy()
    labels[wrong] = (right[wrong] + rng.integers(1, classes, len(wrong))) % classes
    return features, labels, right, wrong


# what is found -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "num_classes", "width"), [(300, 3, 48), (200, 2, 16), (1200, 200, 48)]
)
def test_wrong_labels_are_listed_with_the_right_class(count, num_classes, width):
    features, labels, right, wrong = planted(count, num_classes=num_classes, width=width)
    scores = label_scores(features, labels, num_classes)
    assert set(scores.ranking[: count // 10].tolist()) >= set(wrong.tolist())
    assert set(scores.listed.tolist()) <= set(wrong.tolist())
    assert len(scores.listed) >= 0.85 * len(wrong)
    assert scores.other[wrong].tolist() == right[wrong].tolist()
    assert scores.noise == pytest.approx(0.05, abs=0.02)
    assert (scores.error[scores.listed] >= LEAST_ERROR).all()
    assert (scores.given[wrong] < scores.other_probability[wrong]).all()


def test_clean_labels_are_not_listed_though_classes_overlap():
    features, labels = clouds(600, spread=2.5)
    scores = label_scores(features, labels, 3)
    assert scores.is_candidate.sum() > 30, "a weak classifier contradicts many labels"
    assert scores.num_errors > 30, "which the confident joint alone takes for errors"
    assert len(scores.listed) == 0
    assert scores.noise < 0.01


def test_a_small_class_among_large_ones_is_no_error():
    features, labels = clouds(600, spread=0.7)
    kept = np.flatnonzero((labels > 0) | (np.arange(600) < 24))
    scores = label_scores(features[kept], labels[kept], 3)
    assert (labels[kept] == 0).sum() == 8
    assert len(scores.listed) == 0


def test_the_same_images_have_the_same_scores_each_time():
    features, labels = clouds(60)
    first, again = label_scores(features, labels, 3), label_scores(features, labels, 3)
    assert np.array_equal(first.error, again.error)
    assert np.array_equal(first.ranking, again.ranking)


def test_equal_features_tell_nothing_and_end_in_numbers():
    labels = np.arange(30) % 3
    scores = label_scores(np.ones((30, 4), np.float32), labels, 3)
    assert np.isfinite(scores.error).all()
    assert len(scores.listed) == 0


def test_two_images_of_a_class_are_in_two_folds():
    labels = np.repeat(np.arange(20), 2)
    folds = folds_of(labels, np.arange(40))
    assert (folds[::2] != folds[1::2]).all()
    assert len(set(folds.tolist())) == 5, "classes do not all begin with one fold"


def test_copies_are_in_one_fold_and_no_neighbors_of_each_other():
    features, labels, right, _ = planted(300, share=0)
    features[1::30] = features[0::30]
    groups = np.arange(300)
    groups[1::30] = groups[0::30]
    away = np.arange(10) % 2 + 1
    labels[0::30] = labels[1::30] = (right[0::30] + away) % 3  # with a copy of the same wrong label
    folds = folds_of(labels, groups)
    assert np.array_equal(folds[1::30], folds[0::30])
    scores = label_scores(features, labels, 3, groups)
    for at, near in enumerate(scores.nearest.tolist()):
        assert groups[at] not in groups[near]
    assert set(scores.listed.tolist()) >= set(range(0, 300, 30)), "a copy confirms nothing"


def test_of_very_many_images_some_are_compared_with(monkeypatch):
    monkeypatch.setattr(module, "_MOST_REFERENCES", 40)
    monkeypatch.setattr(module, "_BLOCK_NUMBERS", 500)
    monkeypatch.setattr(module, "_MOST_FITTED", 600)
    monkeypatch.setattr(softmax_head, "_BLOCK_NUMBERS", 500)
    features, right = clouds(700)
    labels = right.copy()
    labels[5] = (right[5] + 1) % 3
    scores = label_scores(features, labels, 3)
    assert scores.ranking[0] == 5
    assert len(set(scores.nearest.ravel().tolist())) <= 40


def test_with_too_much_to_compute_the_first_step_is_the_only_one(monkeypatch):
    monkeypatch.setattr(softmax_head, "_MOST_OPERATIONS", 0)
    features, labels, _, wrong = planted(300)
    assert set(label_scores(features, labels, 3).ranking[:30].tolist()) >= set(wrong.tolist())


def test_classes_with_one_image_or_copies_of_one_are_not_judged():
    features, labels = clouds(60, num_classes=3)
    labels[[10, 11, 12]] = (3, 4, 4)
    copies = np.arange(60)
    copies[12] = 11
    judged = judged_labels(features, labels, np.arange(60), copies)
    assert judged.single.tolist() == [3, 4]
    assert judged.classes.tolist() == [0, 1, 2]
    assert not {10, 11, 12} & set(judged.rows.tolist())


@pytest.mark.parametrize(("count", "classes"), [(19, 2), (40, 1)])
def test_too_few_images_or_classes_have_no_scores(count, classes):
    features, labels = clouds(count, num_classes=classes)
    assert judged_labels(features, labels, np.arange(count), np.arange(count)).scores is None


# other implementations ---------------------------------------------------------------------


@pytest.mark.parametrize("num_classes", [2, 5])
def test_the_head_is_that_of_scikit_learn(num_classes):
    features, labels = clouds(120, num_classes=num_classes, spread=1.0)
    inputs = np.hstack([features / 4, np.ones((120, 1))]).astype(np.float32)
    is_used = np.arange(120) % 7 != 0
    weights = softmax_weights(inputs, labels, num_classes, is_used, penalty=0.5)
    logits = inputs @ weights
    ours = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    # Of two classes scikit-learn fits one column, whose square costs twice as much as two halves.
    strength = 1 / 0.5 if num_classes > 2 else 2 / 0.5
    reference = LogisticRegression(C=strength, fit_intercept=False, tol=1e-10, max_iter=10_000)
    reference.fit(inputs[is_used], labels[is_used])
    assert np.abs(ours - reference.predict_proba(inputs)).max() < 2e-4


def naive_confident_learning(probabilities, labels):
    """Algorithm 1 of Northcutt et al. (2021), written down as it is printed there."""
    count, classes = probabilities.shape
    thresholds = []
    for j in range(classes):
        own = [probabilities[i][j] for i in range(count) if labels[i] == j]
        thresholds.append(sum(own) / len(own))
    joint = np.zeros((classes, classes), int)
    candidates = []
    for i in range(count):
        confident = [j for j in range(classes) if probabilities[i][j] >= thresholds[j]]
        if confident:
            best = max(confident, key=lambda j, i=i: probabilities[i][j])
            joint[labels[i]][best] += 1
            if best != labels[i]:
                candidates.append(i)
    return np.array(thresholds), joint, candidates


def test_thresholds_and_confident_joint_are_those_of_the_paper():
    rng = np.random.default_rng(3)
    probabilities = rng.dirichlet(np.full(4, 0.6), 300)
    labels = np.array([rng.choice(4, p=row) for row in probabilities])
    thresholds, joint, candidates = naive_confident_learning(probabilities, labels)
    confident = confident_classes(probabilities, thresholds)
    known = confident >= 0
    counts = np.zeros((4, 4), int)
    np.add.at(counts, (labels[known], confident[known]), 1)
    assert np.array_equal(counts, joint)
    assert np.flatnonzero(known & (confident != labels)).tolist() == candidates


def test_scores_are_those_of_a_plain_computation():
    """Every figure again, by scikit-learn's heads, sorted distances and loops."""
    features, labels, _, _ = planted(150, spread=1.0)
    scores = label_scores(features, labels, 3)
    scaled = (features - features.mean(0)) / features.std(0) / np.sqrt(features.shape[1])
    inputs = np.hstack([scaled, np.ones((150, 1))])
    units = features / np.linalg.norm(features, axis=1, keepdims=True)
    folds = folds_of(labels, np.arange(150))
    logits = np.zeros((150, 3))
    for fold in range(5):
        head = LogisticRegression(C=1 / 0.3, fit_intercept=False, tol=1e-10, max_iter=10_000)
        head.fit(inputs[folds != fold], labels[folds != fold])
        logits[folds == fold] = 2 * inputs[folds == fold] @ head.coef_.T
    for i in range(150):
        order = sorted((j for j in range(150) if j != i), key=lambda j: -units[i] @ units[j])
        assert scores.nearest[i].tolist() == order[:NEAREST]
        votes = np.bincount(labels[order[:10]], minlength=3) + 0.5
        logits[i] += np.log(votes / votes.sum())
    fits = []
    for temperature in np.geomspace(0.25, 20, 14):
        powers = np.exp((logits - logits.max(1, keepdims=True)) / temperature)
        chances = powers / powers.sum(1, keepdims=True)
        fits.append((naive_noise(chances, labels), chances))
    (_, _, errors), chances = max(fits, key=lambda each: each[0][0])
    assert scores.noise == pytest.approx(np.mean(errors), abs=2e-3)
    assert scores.error == pytest.approx(errors, abs=2e-2)
    thresholds, joint, candidates = naive_confident_learning(chances, labels)
    assert scores.thresholds == pytest.approx(thresholds, abs=2e-3)
    assert scores.given == pytest.approx(chances[np.arange(150), labels], abs=5e-3)
    assert np.array_equal(scores.joint, joint)
    assert np.flatnonzero(scores.is_candidate).tolist() == candidates
    ranks = [errors[i] for i in scores.ranking.tolist()]
    assert all(after < before + 1e-2 for before, after in pairwise(ranks))
    off = joint.sum(1) - np.diag(joint)
    expected = (np.bincount(labels) * off / joint.sum(1)).sum()
    assert scores.num_errors == round(expected)


def naive_noise(chances, labels, rounds=40):
    """Expectation maximization of the rates in loops: (log-likelihood, rates, wrong)."""
    count, classes = chances.shape
    rates = [
        [0.0 if i == j else 0.02 / (classes - 1) for j in range(classes)] for i in range(classes)
    ]

    def joint(at, true):
        own = labels[at]
        rate = 1 - sum(rates[true]) if true == own else rates[true][own]
        return chances[at][true] * rate

    for _ in range(rounds):
        counts = np.zeros((classes, classes))
        for at in range(count):
            parts = np.array([joint(at, true) for true in range(classes)])
            counts[:, labels[at]] += parts / parts.sum()
        mean = (counts.sum() - np.trace(counts)) / (count * (classes - 1))
        for i in range(classes):
            for j in range(classes):
                if i != j:
                    rates[i][j] = (counts[i][j] + 50 * mean) / (counts[i].sum() + 50)
    fit, wrong = 0.0, []
    for at in range(count):
        parts = [joint(at, true) for true in range(classes)]
        fit += np.log(sum(parts))
        wrong.append(1 - parts[labels[at]] / sum(parts))
    return fit, np.array(rates), np.array(wrong)


def test_rows_are_turned_into_a_space_of_their_number_and_keep_their_angles():
    """Fewer images than features, as those of a larger backbone have."""
    features = np.random.default_rng(3).normal(size=(12, 40)).astype(np.float32)
    turned = module._standardized(features)
    assert turned.shape == (12, 13)
    scaled = (features - features.mean(axis=0)) / (features.std(axis=0) * np.sqrt(40))
    assert turned[:, :-1] @ turned[:, :-1].T == pytest.approx(scaled @ scaled.T, abs=1e-5)
