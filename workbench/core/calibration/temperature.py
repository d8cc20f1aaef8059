"""Temperature scaling: one number that makes probabilities match how often they are right.

Guo et al., "On Calibration of Modern Neural Networks", 2017. The logits are divided by a
temperature, above 1 for a network that is too sure of itself. The order of the classes stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.calibration.reliability import reliability
from workbench.core.format import count

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


# fitting -------------------------------------------------------------------------------------
# The temperature that validation images justify, judged on images that it was not fitted on.
#
# The temperature of the lowest loss is an estimate with an error: by 38 images it may be 0.4 where
# 1.2 would be right. So its logarithm is shrunk towards 0 by the nonnegative garrote (Breiman,
# "Better Subset Regression Using the Nonnegative Garrote", 1995): with z standard errors that the
# images put between it and 0, to the share 1 - (CERTAIN / z)² of it, and to 0 below CERTAIN. Few
# images leave it at 1, many where it was. The standard errors are robust to a single image that is
# wrong with high confidence (sandwich estimate and score test: White, 1982).
#
# What is fitted so is kept only where cross-validation shows that it helps.

Interval = tuple[float, float]

FOLDS = 10

CERTAIN = 1.645
"""Standard errors: one in twenty networks that are well calibrated seems that much too confident.
Over 500 networks with 20 to 1,000 validation images each, this value was the lowest that made no
network worse on other images by more than 0.005 of loss or 0.01 of calibration error.
"""

LEAST_FOR_BELOW = 300
"""Validation images: with fewer no answer is made more confident than the network gives it."""

_DRAWS = 1_000
_SEED = 7


@dataclass(frozen=True)
class Measured:
    """Probabilities of some images, before and after.

    Attributes:
        loss_before, loss_after: Mean negative log-likelihood.
        error_before, error_after: Expected calibration error.
        loss_change, error_change: 95% intervals of after less before, by the bootstrap.
    """

    loss_before: float
    loss_after: float
    error_before: float
    error_after: float
    loss_change: Interval = (0.0, 0.0)
    error_change: Interval = (0.0, 0.0)

    @property
    def helps(self) -> bool:
        """The loss is lower, and the calibration error is not higher."""
        return self.loss_after < self.loss_before and self.error_after <= self.error_before


@dataclass(frozen=True)
class Fitted:
    """What was fitted.

    Attributes:
        temperature: None for none.
        measured: By cross-validation; None where nothing was fitted.
        reason: Why there is no temperature; "" where there is one.
    """

    temperature: float | None = None
    measured: Measured | None = None
    reason: str = ""


def fit(probabilities: Floats, labels: Labels) -> Fitted:
    """The temperature for a network with these answers (n, classes), finite, to images (n,) that
    it was not trained on; n at least FOLDS.
    """
    number = len(labels)
    images = f"{count(number)} validation images"
    if (probabilities.argmax(axis=1) == labels).all():
        words = f"all {images} are classified correctly"
        return Fitted(reason=f"{words}, so that there are no errors to fit it to")
    may_sharpen = number >= LEAST_FOR_BELOW
    temperature = shrunk_temperature(probabilities, labels, may_sharpen=may_sharpen)
    if temperature is None:
        return Fitted(reason=_reason(images, may_sharpen=may_sharpen))
    measured = cross_validated(probabilities, labels, may_sharpen=may_sharpen)
    if measured.helps:
        return Fitted(temperature, measured)
    return Fitted(reason=_reason(images, may_sharpen=may_sharpen))


def _reason(images: str, *, may_sharpen: bool) -> str:
    if may_sharpen:
        return f"{images} show no need for a temperature"
    return f"{images} are too few to show that a temperature helps"


def uncalibrated(probabilities: Floats, labels: Labels) -> Measured:
    """The answers (n, classes) to images (n,) as they are: the same before and after."""
    is_right = probabilities.argmax(axis=1) == labels
    loss = float(calibrated_losses(probabilities, labels).mean())
    error = reliability(probabilities.max(axis=1), is_right).error
    return Measured(loss, loss, error, error)


def shrunk_temperature(probabilities: Floats, labels: Labels, *, may_sharpen: bool) -> float | None:
    """The temperature of the lowest loss, shrunk towards 1; None for 1.

    Args:
        probabilities: Float32 (n, classes), finite.
        labels: The true classes (n,).
        may_sharpen: It may be below 1.
    """
    best = math.log(fit_temperature(probabilities, labels))
    if best == 0.0 or (best < 0 and not may_sharpen):
        return None
    evidence = temperature_evidence(probabilities, labels, math.exp(best))
    if evidence <= CERTAIN:
        return None
    shrunk = math.exp(best * (1 - (CERTAIN / evidence) ** 2))
    return min(max(shrunk, LIMITS[0]), LIMITS[1])


def cross_validated(probabilities: Floats, labels: Labels, *, may_sharpen: bool) -> Measured:
    """What temperatures that are fitted on nine tenths of the images do for the last tenth, each
    tenth in turn.
    """
    rng = np.random.default_rng(_SEED)
    folds = rng.permutation(len(labels)) % FOLDS
    before, after = calibrated_losses(probabilities, labels), np.empty(len(labels))
    calibrated = np.empty_like(probabilities)
    for fold in range(FOLDS):
        own = folds == fold
        found = shrunk_temperature(probabilities[~own], labels[~own], may_sharpen=may_sharpen)
        after[own] = calibrated_losses(probabilities[own], labels[own], found or 1.0)
        calibrated[own] = with_temperature(probabilities[own], found)
    is_right = probabilities.argmax(axis=1) == labels
    confidence = probabilities.max(axis=1), calibrated.max(axis=1)
    errors = [reliability(each, is_right).error for each in confidence]
    drawn = rng.integers(0, len(labels), (_DRAWS, len(labels)))
    return Measured(
        float(before.mean()),
        float(after.mean()),
        errors[0],
        errors[1],
        _middle((after - before)[drawn].mean(axis=1)),
        _middle(np.array([_error_change(confidence, is_right, rows) for rows in drawn])),
    )


def _error_change(
    confidence: tuple[Floats, Floats], is_right: np.ndarray[Any, np.dtype[np.bool_]], rows: Labels
) -> float:
    before, after = (reliability(each[rows], is_right[rows]).error for each in confidence)
    return after - before


def _middle(values: Doubles) -> Interval:
    """What 95% of values are within."""
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
