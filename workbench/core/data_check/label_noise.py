"""How labels come to be wrong: the rate at which images of one class are labeled as another, fitted
to a classifier's probabilities and the labels as they are given.

The classifier's probability of the true class i is p_i, an image of i is labeled j with the rate
Q_ij: so label j has the probability sum_i p_i Q_ij. The rates are those of maximum likelihood, by
expectation maximization (Dawid and Skene, 1979), each drawn to the mean of all rates as if
PRIOR_IMAGES more images had been labeled at that: 400 images alone are too few for the 20 rates of
five classes. By Bayes then follows how probable it is that one label is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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
