"""Temperature scaling: one number that makes probabilities match how often they are right.

Guo et al., "On Calibration of Modern Neural Networks", 2017. The logits are divided by a
temperature, above 1 for a network that is too sure of itself. The order of the classes stays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int64]]

LIMITS = (0.05, 20.0)
"""Least and highest temperature. Where every image is classified correctly the likelihood has no
maximum: no temperature should be fitted then."""

LEAST_IMAGES = 20
"""Fewer images say nothing of how often a probability is right."""

_BISECTIONS = 50
_LEAST_PROBABILITY = 1e-38
"""Below, a float32 probability has been rounded to 0, whose logarithm is not finite."""


def log_probabilities(probabilities: Floats) -> Doubles:
    """Natural logarithms (n, classes) of probabilities, finite."""
    logs: Doubles = np.log(np.maximum(probabilities.astype(np.float64), _LEAST_PROBABILITY))
    return logs


def with_temperature(probabilities: Floats, temperature: float | None) -> Floats:
    """Calibrated probabilities (n, classes); None changes nothing.

    The most probable class of each row stays the one it was, also where rounding would make it
    equal to another.
    """
    if temperature is None or not probabilities.size:
        return probabilities
    calibrated = _softmax(log_probabilities(probabilities) / temperature).astype(np.float32)
    before, rows = probabilities.argmax(axis=1), np.arange(len(probabilities))
    moved = np.flatnonzero(calibrated.argmax(axis=1) != before)
    highest = calibrated[moved].max(axis=1)
    calibrated[rows[moved], before[moved]] = np.nextafter(highest, np.float32(2))
    return calibrated


def calibrated_losses(probabilities: Floats, labels: Labels, temperature: float = 1.0) -> Doubles:
    """Negative log-likelihood of each of the labels (n,) at a temperature, (n,)."""
    logits = log_probabilities(probabilities) / temperature
    highest = logits.max(axis=1, keepdims=True)
    sums = highest[:, 0] + np.log(np.exp(logits - highest).sum(axis=1))
    losses: Doubles = sums - logits[np.arange(len(labels)), labels]
    return losses


def mean_loss(probabilities: Floats, labels: Labels, temperature: float = 1.0) -> float:
    """Mean negative log-likelihood of labels (n,) at a temperature."""
    return float(calibrated_losses(probabilities, labels, temperature).mean())


def fit_temperature(probabilities: Floats, labels: Labels) -> float:
    """The temperature within LIMITS with the lowest loss on images with labels (n,), n at least 1.

    The loss is convex in the inverse temperature, and its slope there is the mean of the expected
    logit less the true class's: bisection finds where the slope is 0.
    """
    logs = log_probabilities(probabilities)
    low, high = (math.log(1 / limit) for limit in reversed(LIMITS))
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _slopes(logs, labels, math.exp(middle)).mean() > 0:
            high = middle
        else:
            low = middle
    return 1 / math.exp((low + high) / 2)


def temperature_evidence(probabilities: Floats, labels: Labels, temperature: float) -> float:
    """How many standard errors are between the fitted temperature and 1.

    The lower of two figures: the logarithm of the temperature by its own error, and the slope of
    the loss at 1 by that of its mean (score test). Both take the spread between the images, not
    the curvature alone, so that one image counts at most as one standard error.

    Args:
        probabilities: Float32 (n, classes), finite.
        labels: The true classes (n,).
        temperature: That of the lowest loss, as `fit_temperature` finds it.
    """
    logs, inverse = log_probabilities(probabilities), 1 / temperature
    shares = _softmax(logs * inverse)
    expected = (shares * logs).sum(axis=1, keepdims=True)
    curvature = float((shares * (logs - expected) ** 2).sum()) * inverse
    spread = _length(_slopes(logs, labels, inverse))
    by_fit = abs(math.log(temperature)) * curvature / spread if spread > 0 else 0.0
    slopes = _slopes(logs, labels, 1.0)
    length = _length(slopes)
    return min(by_fit, abs(float(slopes.sum())) / length) if length > 0 else 0.0


def _slopes(logs: Doubles, labels: Labels, inverse: float) -> Doubles:
    """Derivatives (n,) of the losses by the inverse temperature."""
    expected = (_softmax(logs * inverse) * logs).sum(axis=1)
    slopes: Doubles = expected - logs[np.arange(len(labels)), labels]
    return slopes


def _length(values: Doubles) -> float:
    return float(np.sqrt((values * values).sum()))


def _softmax(logits: Doubles) -> Doubles:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Doubles = shifted / shifted.sum(axis=1, keepdims=True)
    return shares
