"""Label errors by confident learning: which images a classifier, trained on all others, would label
in another way, and how probable it is that their label is wrong.

Northcutt, Jiang and Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels" (2021):
cross-validated probabilities, a threshold for each class (the mean probability of the class among
images with that label), and the confident joint, which counts images by their label and by the most
probable class above its threshold. Those off its diagonal are candidates.

A weak classifier has many of them in clean data, too. How many are wrong labels is therefore
estimated (`label_noise`), with the temperature of the probabilities, by maximum likelihood. Where
the labels are explained as well without any wrong one, none is listed; else those that are wrong
with a probability of LEAST_ERROR at least.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workbench.core.data_check.label_noise import LabelNoise, fitted_noise, no_noise
from workbench.core.data_check.softmax_head import Floats, softmax_weights
from workbench.core.training.split import random_order

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

NEIGHBORS = 10
NEAREST = 3
"""Images that are shown beside one."""

LEAST_ERROR = 0.3
"""Probability of a wrong label below which none is listed, however many there are by expectation:
the list as a whole is then more often right than not."""

_FOLDS = 5
_SEED = 11

_HEAD_WEIGHT = 2.0
"""Factor of the head's logits, which are added to the logarithms of the neighbors' shares: chosen
on the photos above."""

_PRIOR = 0.5
"""Neighbors that each class has beside those that were found, so that no share is 0."""

_MOST_REFERENCES = 20_000
"""Images among which neighbors are looked for: all of 100,000 would take minutes."""

_BLOCK_NUMBERS = 2**23
"""Numbers of a block of rows: 32 MB, however many classes there are."""

_MOST_FITTED = 2**19
"""Numbers of the rows by which temperature and rates are fitted: some seconds."""

_TEMPERATURES = np.geomspace(0.25, 20.0, 14)
"""Candidate temperatures of these sums of logits."""

_LEAST_GAIN = 1.0
"""Log-likelihood that wrong labels must explain: what a parameter costs (Akaike, 1974)."""


@dataclass(frozen=True)
class LabelScores:
    """What is known of the label of each image.

    Attributes:
        given: (n,) probability of its own label.
        other: (n,) the class that it more probably is of: the most probable one above its threshold
            where that is another, else the most probable of the others.
        other_probability: (n,) that of this class.
        confident: (n,) the most probable class above its threshold; -1 where none is.
        error: (n,) estimated probability that the label is wrong.
        nearest: (n, NEAREST) places of the images with the most similar features; -1 for none.
        thresholds: (classes,) mean probability of each class among images with that label.
        noise: Estimated share of wrong labels, 0..1.
        labels: (n,) the labels that were judged.
    """

    given: Doubles
    other: Numbers
    other_probability: Doubles
    confident: Numbers
    error: Doubles
    nearest: Numbers
    thresholds: Doubles
    noise: float
    labels: Numbers

    @cached_property
    def is_candidate(self) -> Mask:
        """(n,) whether it is off the diagonal of the confident joint."""
        found: Mask = (self.confident >= 0) & (self.confident != self.labels)
        return found

    @property
    def joint(self) -> Numbers:
        """The confident joint (classes, classes): label by most probable class above threshold."""
        counts = np.zeros((len(self.thresholds), len(self.thresholds)), np.int64)
        known = self.confident >= 0
        np.add.at(counts, (self.labels[known], self.confident[known]), 1)
        return counts

    @property
    def num_errors(self) -> int:
        """How many wrong labels the confident joint estimates: its shares off the diagonal, each
        row scaled to the number of images with that label. Too many where the classifier is weak.
        """
        known = self.confident >= 0
        classes = len(self.thresholds)
        sizes = np.bincount(self.labels, minlength=classes)
        found = np.bincount(self.labels[known], minlength=classes)
        off = np.bincount(self.labels[self.is_candidate], minlength=classes)
        return round(float((sizes * off / np.maximum(found, 1)).sum()))

    @property
    def ranking(self) -> Numbers:
        """All places, the most probably wrong label first."""
        return np.lexsort((self.given, -self.error))

    @property
    def listed(self) -> Numbers:
        """The places worth looking at: the first of the ranking, as many as labels are wrong by
        expectation, of those whose label is not the most probable class.
        """
        most = min(math.ceil(self.error.sum()), self.num_errors)
        is_listed = (self.other_probability > self.given) & (self.error >= LEAST_ERROR)
        order = self.ranking
        return order[is_listed[order]][:most]


def label_scores(
    features: Floats, labels: Numbers, num_classes: int, groups: Numbers | None = None
) -> LabelScores:
    """Scores all images; there must be two of each class at least, and of two classes.

    Args:
        features: (n, d).
        labels: (n,) class of each, from 0; each of the classes is there.
        num_classes: How many classes there are.
        groups: (n,) images with one number are copies of one another: none of them is
            evidence about the others. None where there are no copies.
    """
    groups = np.arange(len(labels)) if groups is None else groups
    nearest = _nearest(features, groups)
    logits = _Logits(features, labels, num_classes, groups, nearest)
    temperature, noise = _fitted(logits, labels)
    rows = np.arange(len(labels))
    given, error = np.zeros(len(labels)), np.zeros(len(labels))
    for block, values in logits.blocks(rows):
        shares = _softmax(values, temperature)
        given[block] = shares[np.arange(len(block)), labels[block]]
        error[block] = noise.wrong(shares, labels[block])
    sums = np.bincount(labels, weights=given, minlength=num_classes)
    thresholds = sums / np.maximum(np.bincount(labels, minlength=num_classes), 1)
    confident, other = np.full(len(labels), -1), np.zeros(len(labels), np.int64)
    other_probability = np.zeros(len(labels))
    for block, values in logits.blocks(rows):
        shares = _softmax(values, temperature)
        confident[block] = confident_classes(shares, thresholds)
        other[block] = _other_classes(shares, confident[block], labels[block])
        other_probability[block] = shares[np.arange(len(block)), other[block]]
    near = np.full((len(labels), NEAREST), -1)
    near[:, : nearest.shape[1]] = nearest[:, :NEAREST]
    return LabelScores(
        given, other, other_probability, confident, error, near, thresholds, noise.share, labels
    )


def confident_classes(probabilities: Doubles, thresholds: Doubles) -> Numbers:
    """(n,) the most probable class among those at or above their threshold; -1 where none is."""
    above = np.where(probabilities >= thresholds, probabilities, -1.0)
    best = above.argmax(axis=1)
    return np.where(above.max(axis=1) >= 0, best, -1)


def _other_classes(probabilities: Doubles, confident: Numbers, labels: Numbers) -> Numbers:
    rest = probabilities.copy()
    rest[np.arange(len(labels)), labels] = -1.0
    is_other = (confident >= 0) & (confident != labels)
    return np.where(is_other, confident, rest.argmax(axis=1))


def _fitted(logits: _Logits, labels: Numbers) -> tuple[float, LabelNoise]:
    """Temperature and rates of wrong labels, by a sample where there are very many images."""
    most = max(_MOST_FITTED // logits.num_classes, 1)
    rows = np.sort(random_order(np.arange(len(labels)), _SEED)[:most])
    values = np.concatenate([block for _, block in logits.blocks(rows)])
    clean, noisy = [], []
    for temperature in _TEMPERATURES.tolist():
        shares = _softmax(values, temperature)
        clean.append((temperature, no_noise(shares, labels[rows])))
        noisy.append((temperature, fitted_noise(shares, labels[rows])))
    best_clean, best_noisy = (max(each, key=lambda fit: fit[1].fit) for each in (clean, noisy))
    is_noisy = best_noisy[1].fit - best_clean[1].fit >= _LEAST_GAIN
    return best_noisy if is_noisy else best_clean


def _softmax(values: Floats, temperature: float) -> Doubles:
    scaled = values.astype(np.float64) / temperature
    scaled -= scaled.max(axis=1, keepdims=True)
    np.exp(scaled, out=scaled)
    scaled /= scaled.sum(axis=1, keepdims=True)
    return scaled


class _Logits:
    """Values of each class for each image by heads that were fitted without the image's fold, and
    by its neighbors; made block by block, as all of 10,000 classes would take gigabytes.
    """

    def __init__(
        self,
        features: Floats,
        labels: Numbers,
        num_classes: int,
        groups: Numbers,
        nearest: Numbers,
    ) -> None:
        self.num_classes = num_classes
        self._labels, self._nearest = labels, nearest
        self._inputs = _standardized(features)
        self._folds = folds_of(labels, groups)
        self._weights = [
            softmax_weights(self._inputs, labels, num_classes, self._folds != fold)
            for fold in range(_FOLDS)
        ]

    def blocks(self, rows: Numbers) -> Iterator[tuple[Numbers, Floats]]:
        """Yields blocks of the rows, each with its logits, float32 (n, classes)."""
        step = max(_BLOCK_NUMBERS // self.num_classes, 1)
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            yield block, self._values(block)

    def _values(self, rows: Numbers) -> Floats:
        values = np.zeros((len(rows), self.num_classes), np.float32)
        for fold, weights in enumerate(self._weights):
            is_in = self._folds[rows] == fold
            values[is_in] = self._inputs[rows[is_in]] @ weights
        votes = np.full(values.shape, _PRIOR, np.float32)
        for column in self._nearest[rows].T:
            known = np.flatnonzero(column >= 0)
            votes[known, self._labels[column[known]]] += 1  # once a row: no place is there twice
        votes /= votes.sum(axis=1, keepdims=True)
        return _HEAD_WEIGHT * values + np.log(votes)


def _standardized(features: Floats) -> Floats:
    """Columns of mean 0 and variance 1, scaled so that a row has a length of about 1; and a 1.

    Fewer rows than columns are turned into a space of their number: no angle between them changes.
    """
    mean, deviation = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-6)
    scaled = (features - mean) / (deviation * np.sqrt(features.shape[1]))
    if len(scaled) < scaled.shape[1]:
        values, vectors = np.linalg.eigh((scaled @ scaled.T).astype(np.float64))
        scaled = vectors * np.sqrt(np.maximum(values, 0))
    return np.hstack([scaled, np.ones((len(features), 1))]).astype(np.float32)


def folds_of(labels: Numbers, groups: Numbers) -> Numbers:
    """(n,) the fold of each image: stratified, copies in one fold, and the same each time."""
    folds = np.zeros(len(labels), np.int64)
    _, first = np.unique(groups, return_index=True)
    for label in np.unique(labels[first]):
        order = random_order(first[labels[first] == label], _SEED)
        folds[order] = (np.arange(len(order)) + label) % _FOLDS
    leaders = dict(zip(groups[first].tolist(), first.tolist(), strict=True))
    return folds[[leaders[group] for group in groups.tolist()]]


def _nearest(features: Floats, groups: Numbers) -> Numbers:
    """(n, NEIGHBORS at most) places of the most similar images by cosine, none of them a copy; -1
    where there are not so many.
    """
    norms = np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-6)
    units = (features / norms).astype(np.float32)
    references = np.sort(random_order(np.arange(len(groups)), _SEED)[:_MOST_REFERENCES])
    known, number = units[references], min(NEIGHBORS, len(references) - 1)
    found = np.full((len(groups), number), -1)
    step = max(_BLOCK_NUMBERS // len(references), 1)
    for start in range(0, len(groups), step):
        block = np.arange(start, min(start + step, len(groups)))
        likeness = units[block] @ known.T
        likeness[groups[references][None] == groups[block][:, None]] = -np.inf
        places = np.argpartition(-likeness, number - 1, axis=1)[:, :number]
        values = np.take_along_axis(likeness, places, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        places, values = (np.take_along_axis(each, order, axis=1) for each in (places, values))
        found[block] = np.where(np.isfinite(values), references[places], -1)
    return found
