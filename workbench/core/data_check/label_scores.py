"""Label errors by confident learning: which images a classifier, trained on all others, would label
in another way, and how probable it is that their label is wrong.

Northcutt, Jiang and Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels" (2021):
cross-validated probabilities, a threshold for each class (the mean probability of the class among
images with that label), and the confident joint, which counts images by their label and by the most
probable class above its threshold. Those off its diagonal are candidates.

A weak classifier has many of them in clean data, too. How many are wrong labels is therefore
estimated, with the temperature of the probabilities, by maximum likelihood. Where
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

from workbench.core.training.split import random_order

# label noise ---------------------------------------------------------------------------------
# How labels come to be wrong: the rate at which images of one class are labeled as another, fitted
# to a classifier's probabilities and the labels as they are given.
#
# The classifier's probability of the true class i is p_i, an image of i is labeled j with the rate
# Q_ij: so label j has the probability sum_i p_i Q_ij. The rates are those of maximum likelihood, by
# expectation maximization (Dawid and Skene, 1979), each drawn to the mean of all rates as if
# PRIOR_IMAGES more images had been labeled at that: 400 images alone are too few for the 20 rates
# of five classes. By Bayes then follows how probable it is that one label is wrong.

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

PRIOR_IMAGES = 50.0
"""Weight of the mean rates in those of each class, as a number of images. Chosen on photos of
flowers and on CIFAR-10: with 10, some labels of clean data look wrong; with 1,000, those of one
class that are all labeled as one other are not found."""

MOST_CLASSES = 300
"""With rates of their own for each pair of classes; with more there is one rate for all pairs."""

_ROUNDS = 40
_FIRST_SHARE = 0.02
_LEAST_RIGHT = 0.5
"""A label is right more often than not, whatever the class."""

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class LabelNoise:
    """Rates of wrong labels.

    Attributes:
        rates: (classes, classes) probability that an image of the row's class is labeled as the
            column's; of equal classes 0. One column where all pairs have one rate: (classes, 1).
        share: Expected share of wrong labels among all, 0..1.
        fit: Log-likelihood of the labels, summed.
    """

    rates: Doubles
    share: float
    fit: float

    def wrong(self, probabilities: Doubles, labels: Numbers) -> Doubles:
        """(n,) how probable it is that each label is wrong, given (n, classes) probabilities."""
        return _wrong(probabilities, labels, self.rates)[0]


def no_noise(probabilities: Doubles, labels: Numbers) -> LabelNoise:
    """Rates of 0 and their log-likelihood: the model in which every label is right."""
    given = probabilities[np.arange(len(labels)), labels]
    fit = float(np.log(np.maximum(given, _TINY)).sum())
    return LabelNoise(np.zeros((probabilities.shape[1], 1)), 0.0, fit)


def fitted_noise(probabilities: Doubles, labels: Numbers) -> LabelNoise:
    """The rates that explain labels best.

    Args:
        probabilities: (n, classes) of each class by a classifier that has not seen the image.
        labels: (n,) as they are given.
    """
    classes = probabilities.shape[1]
    order = np.argsort(labels, kind="stable")
    ordered, own = probabilities[order], labels[order]
    columns = classes if classes <= MOST_CLASSES else 1
    rates = np.full((classes, columns), _FIRST_SHARE / (classes - 1))
    for _ in range(_ROUNDS):
        rates = _next_rates(ordered, own, rates)
    wrong, likelihood = _wrong(ordered, own, rates)
    fit = float(np.log(np.maximum(likelihood, _TINY)).sum())
    return LabelNoise(rates, float(wrong.mean()), fit)


def _next_rates(probabilities: Doubles, labels: Numbers, rates: Doubles) -> Doubles:
    """A round: by the rates, how probable each true class of each image is; by that, the rates."""
    classes = len(rates)
    if rates.shape[1] == 1:
        share = float(_wrong(probabilities, labels, rates)[0].mean())
        return np.full_like(rates, min(share, _LEAST_RIGHT) / (classes - 1))
    joint = _joint(probabilities, labels, rates)
    joint /= np.maximum(joint.sum(axis=1, keepdims=True), _TINY)
    known, starts = np.unique(labels, return_index=True)
    counts = np.zeros((classes, classes))
    counts[:, known] = np.add.reduceat(joint, starts, axis=0).T
    off = counts.copy()
    np.fill_diagonal(off, 0)
    mean = off.sum() / (len(labels) * (classes - 1))
    drawn: Doubles = (off + PRIOR_IMAGES * mean) / (
        counts.sum(axis=1, keepdims=True) + PRIOR_IMAGES
    )
    np.fill_diagonal(drawn, 0)
    total = drawn.sum(axis=1, keepdims=True)
    drawn *= np.minimum(1, _LEAST_RIGHT / np.maximum(total, _TINY))
    return drawn


def _wrong(probabilities: Doubles, labels: Numbers, rates: Doubles) -> tuple[Doubles, Doubles]:
    """(n,) how probable each label is to be wrong, and (n,) to be given at all."""
    rows = np.arange(len(labels))
    given = probabilities[rows, labels]
    if rates.shape[1] == 1:
        one = rates[labels, 0]
        right, wrong = (1 - one * (len(rates) - 1)) * given, one * (1 - given)
        total = right + wrong
    else:
        joint = _joint(probabilities, labels, rates)
        total = joint.sum(axis=1)
        wrong = total - joint[rows, labels]
    return np.clip(wrong / np.maximum(total, _TINY), 0, 1), total


def _joint(probabilities: Doubles, labels: Numbers, rates: Doubles) -> Doubles:
    """(n, classes) probability of each true class together with the label as it is given."""
    whole = rates.copy()
    np.fill_diagonal(whole, 1 - rates.sum(axis=1))
    return probabilities * whole.T[labels]


# softmax head --------------------------------------------------------------------------------
# Multinomial logistic regression on features: a linear head, fitted in numpy.

Floats = np.ndarray[Any, np.dtype[np.float32]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

PENALTY = 0.3
"""L2 penalty: factor of half the squared weights, for rows of length 1. It is near the best
log-likelihood on photos of flowers, both for 400 and for 3,610 images, and robust to wrong
labels."""

_MOST_STEPS = 60
_MOST_OPERATIONS = 4e11
"""Floating-point operations of all steps of a fit: 10 to 20 s on two cores."""

_BLOCK_NUMBERS = 2**23
"""Probabilities of a block of rows: 32 MB."""


def softmax_weights(
    inputs: Floats, labels: Numbers, num_classes: int, is_used: Mask, penalty: float = PENALTY
) -> Floats:
    """Weights (d, classes) that minimize cross-entropy, summed, with a penalty.

    Steps have the fixed upper bound of the Hessian of Boehning, "Multinomial logistic regression
    algorithm" (1992), so that none is too long, with Nesterov's acceleration. The first step from
    zero is least squares on one-hot labels: where there are too many images and classes for more,
    it is the only one.

    Args:
        inputs: (n, d), with a column of ones.
        labels: (n,) class of each.
        num_classes: How many classes there are.
        is_used: (n,) the rows to fit.
        penalty: Factor of half the squared weights.
    """
    used, own = inputs[is_used], labels[is_used]
    count, width = used.shape
    bound = 0.5 * (used.T @ used).astype(np.float64) + penalty * np.eye(width)
    inverse = np.linalg.inv(bound).astype(np.float32)
    targets = _class_sums(used, own, num_classes)
    uniform = used.sum(axis=0, dtype=np.float64)[:, None] / num_classes
    weights: Floats = (inverse @ (targets - uniform)).astype(np.float32)
    steps = min(_MOST_STEPS, int(_MOST_OPERATIONS / (4 * count * width * num_classes)))
    ahead, pace = weights, 1.0
    for _ in range(steps):
        slope = _expected(used, ahead) - targets + penalty * ahead
        following: Floats = ahead - inverse @ slope
        if float(((following - weights) * (ahead - following)).sum()) > 0:
            pace = 1.0  # O'Donoghue and Candes (2015): start again where it overshoots
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead = following + np.float32((pace - 1) / faster) * (following - weights)
        weights, pace = following, faster
    return weights


def _class_sums(inputs: Floats, labels: Numbers, num_classes: int) -> Floats:
    """(d, classes) sum of the rows of each class."""
    sums = np.zeros((num_classes, inputs.shape[1]), np.float32)
    np.add.at(sums, labels, inputs)
    turned: Floats = np.ascontiguousarray(sums.T)
    return turned


def _expected(inputs: Floats, weights: Floats) -> Floats:
    """(d, classes) sum of the rows, each by its probability of the class."""
    total = np.zeros(weights.shape, np.float32)
    step = max(_BLOCK_NUMBERS // weights.shape[1], 1)
    for start in range(0, len(inputs), step):
        rows = inputs[start : start + step]
        shares = rows @ weights
        shares -= shares.max(axis=1, keepdims=True)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=1, keepdims=True)
        total += rows.T @ shares
    return total


# label scores --------------------------------------------------------------------------------

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


# judged labels -------------------------------------------------------------------------------
# Selection of the images whose labels can be judged, and the judgment on these.

LEAST_IMAGES = 20
"""Fewer tell nothing about each other."""


@dataclass(frozen=True)
class JudgedLabels:
    """The judgment on the labels of some rows; its places are places in `rows`.

    Attributes:
        rows: The rows of the survey that were judged.
        classes: The label that each class of the scores has in the survey.
        single: Labels that were not judged, as they have one image or copies of one.
        scores: None where there are too few images, or fewer than two classes.
    """

    rows: Numbers
    classes: Numbers
    single: Numbers
    scores: LabelScores | None


def judged_labels(
    features: Floats, labels: Numbers, readable: Numbers, copies: Numbers
) -> JudgedLabels:
    """Judges the labels of readable images whose class has another image.

    Args:
        features: (n, d) of all rows.
        labels: (n,) label of each.
        readable: Rows whose features are known.
        copies: (n,) the first row of those that show the same as each row.
    """
    first = np.unique(copies[readable], return_index=True)[1]
    known, counts = np.unique(labels[readable[first]], return_counts=True)
    classes, single = known[counts > 1], np.setdiff1d(labels[readable], known[counts > 1])
    rows = readable[np.isin(labels[readable], classes)]
    if len(rows) < LEAST_IMAGES or len(classes) < 2:
        return JudgedLabels(rows, classes, single, None)
    own = np.searchsorted(classes, labels[rows])
    scores = label_scores(features[rows], own, len(classes), copies[rows])
    return JudgedLabels(rows, classes, single, scores)
