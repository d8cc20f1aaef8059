"""How well labels fit to features: what is known of an image from all the others.

Two classifiers that never see the image itself vote: ridge regression on one-hot labels,
cross-validated, and the nearest neighbors by cosine. Both are robust to some wrong labels. On
photos of five flowers, 5% of them mislabeled, 92% of these are among the first 10%.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.training.split import random_order

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

NEIGHBORS = 10
_FOLDS = 5
_SEED = 11
_RIDGE = 0.1
"""Of the number of images: features are scaled to unit variance."""

_NEIGHBOR_WEIGHT = 0.5
"""Of the neighbors' shares beside the regression's values, which are 0 to 1 too."""

_MOST_REFERENCES = 20_000
"""Images among which neighbors are looked for: all of 100,000 would take minutes."""

_BLOCK = 512


@dataclass(frozen=True)
class LabelScores:
    """For each image, the class other than its own that fits best.

    Attributes:
        other: (n,) that class.
        margin: (n,) how much better it fits than the image's own class; negative where its own
            fits best. At most 1.5 or a little more.
        votes: (n,) how many of the NEIGHBORS nearest images are of that class.
    """

    other: Numbers
    margin: Doubles
    votes: Numbers


def label_scores(features: Floats, labels: Numbers, num_classes: int) -> LabelScores:
    """Scores all images; there must be some, of two classes at least.

    Args:
        features: (n, d).
        labels: (n,) class of each.
        num_classes: How many classes there are.
    """
    rows = np.arange(len(labels))
    shares = _neighbor_shares(features, labels, num_classes)
    values = _regression(features, labels, num_classes) + _NEIGHBOR_WEIGHT * shares
    own = values[rows, labels]
    values[rows, labels] = -np.inf
    other = values.argmax(axis=1)
    votes = np.round(shares[rows, other] * NEIGHBORS).astype(np.int64)
    return LabelScores(other, values[rows, other] - own, votes)


def _regression(features: Floats, labels: Numbers, num_classes: int) -> Doubles:
    """(n, classes) values of the regression that was fitted without the image's fold."""
    deviation = np.maximum(features.std(axis=0), 1e-6)
    scaled = ((features - features.mean(axis=0)) / deviation).astype(np.float64)
    inputs = np.hstack([scaled, np.ones((len(labels), 1))])
    targets = np.eye(num_classes)[labels]
    values = np.zeros_like(targets)
    folds = _folds(labels)
    penalty = _RIDGE * len(labels) * np.eye(inputs.shape[1])
    for fold in range(_FOLDS):
        is_in = folds == fold
        known = inputs[~is_in]
        weights = np.linalg.solve(known.T @ known + penalty, known.T @ targets[~is_in])
        values[is_in] = inputs[is_in] @ weights
    return values


def _folds(labels: Numbers) -> Numbers:
    """Stratified, and the same each time."""
    folds = np.zeros(len(labels), np.int64)
    for label in np.unique(labels):
        order = random_order(np.flatnonzero(labels == label), _SEED)
        folds[order] = np.arange(len(order)) % _FOLDS
    return folds


def _neighbor_shares(features: Floats, labels: Numbers, num_classes: int) -> Doubles:
    """(n, classes) share of each class among the nearest other images."""
    norms = np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-6)
    units = (features / norms).astype(np.float32)
    references = np.sort(random_order(np.arange(len(labels)), _SEED)[:_MOST_REFERENCES])
    number = min(NEIGHBORS, len(references) - 1)
    known, known_labels = units[references], labels[references]
    shares = np.zeros((len(labels), num_classes))
    for start in range(0, len(labels), _BLOCK):
        block = np.arange(start, min(start + _BLOCK, len(labels)))
        likeness = units[block] @ known.T
        likeness[references[None] == block[:, None]] = -np.inf  # not the image itself
        nearest = np.argpartition(-likeness, number - 1, axis=1)[:, :number]
        for column in range(number):
            np.add.at(shares, (block, known_labels[nearest[:, column]]), 1 / number)
    return shares
