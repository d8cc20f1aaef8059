"""How far an answer can be trusted: temperature, reliability, thresholds, distance to the training
images. Arrays and numbers alone; what a run keeps of them is in its model card.

- `fit` alone decides which temperature validation images justify: shrunk by what chance explains,
  kept only where cross-validation shows that it helps.
- `distance` has the limit of the distance to the training images (`Limit`), and how sure it is.
- `unknown_reason` decides whether an answer counts as "unknown". It is called where the model
  answers, so that window and terminal only display the result.
- `TrueClasses.is_right` alone defines right, wrong, or neither.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from workbench.core.format import count, share
from workbench.core.outside_text import KnownNames

# distance ------------------------------------------------------------------------------------
# How far an image is from the training images, by the outputs of the last hidden layer.
#
# Deep nearest neighbors (Sun et al., "Out-of-Distribution Detection with Deep Nearest Neighbors",
# 2022): the outputs are scaled to length 1, and the distance is 1 less the cosine to one of the
# nearest training images, 0..2. It needs no assumption on the network, and with some hundred
# training images it is as good as with all of them.

Floats = np.ndarray[Any, np.dtype[np.float32]]
Halves = np.ndarray[Any, np.dtype[np.float16]]
Labels = np.ndarray[Any, np.dtype[np.int64]]

NEIGHBOR = 5
"""The distance is that to the nearest but four: a single odd training image does not count."""

LEAST_REFERENCES = 50
"""Fewer training images are too sparse to be compared with."""

MOST_REFERENCES = 2000
MOST_BYTES = 4 * 2**20
"""Size limit of the references, two bytes for each number."""

KEPT_SHARE = 0.95
"""Share of ordinary images within the limit: the farthest others are beyond it."""

ENOUGH_FOR_LIMIT = 100
"""Validation images: with fewer, the distance that KEPT_SHARE of them are within says too little of
other images, of which many more may be beyond it. Training images, each left out in turn, are then
counted with them, or the limit is wider."""

LEAST_FOR_LIMIT = 22
"""Validation images: of fewer not even the farthest is a limit that LEAST_KEPT of other images are
within, nine times in ten. The check is then off until it is switched on."""

LEAST_KEPT = 0.9
_RISK = 0.1
_NEARER = 1.0
"""Standard errors of the rank sum by which training images are nearer to one another than
validation images are to them: where the hidden layer was trained on them, or some are copies."""

_SEED_DISTANCE = 5


def reference_places(num_images: int, num_outputs: int) -> Labels:
    """Which training images are the references, in order; none where they would be too few.

    Args:
        num_images: Training images.
        num_outputs: Outputs of the last hidden layer.
    """
    room = min(MOST_REFERENCES, MOST_BYTES // (2 * max(1, num_outputs)))
    count = min(room, num_images)
    if count < LEAST_REFERENCES:
        return np.zeros(0, np.int64)
    return np.sort(np.random.default_rng(_SEED_DISTANCE).permutation(num_images)[:count])


def references(hidden: Floats) -> Halves:
    """What is kept of the training images' hidden outputs (n, d): rows of length 1."""
    return unit_rows(hidden).astype(np.float16)


def distances(hidden: Floats, kept: Halves | Floats) -> Floats:
    """Distances (n,) of images with these hidden outputs (n, d) from references (m, d)."""
    cosines = unit_rows(hidden) @ kept.astype(np.float32, copy=False).T
    at = max(0, len(kept) - NEIGHBOR)
    nearest: Floats = 1 - np.partition(cosines, at, axis=1)[:, at]
    return nearest


@dataclass(frozen=True)
class Limit:
    """Beyond which distance an image is unlike the training images.

    Attributes:
        value: The distance, 0..2.
        within: How many of the images that it was found by are within it.
        count: How many images it was found by.
        with_training: Training images are among them, each left out in turn.
    """

    value: float
    within: int
    count: int
    with_training: bool = False


def limit_of(found: Floats, kept: Halves | Floats) -> Limit:
    """The distance that KEPT_SHARE of ordinary images are within.

    Args:
        found: Distances of validation images (n,), n at least 1.
        kept: The references (m, d) that they are measured from.
    """
    if len(found) >= ENOUGH_FOR_LIMIT:
        return _limit(found, float(np.quantile(found, KEPT_SHARE)))
    left_out = leave_one_out(kept)
    if not _are_nearer(left_out, found):
        both = np.concatenate([found, left_out])
        return _limit(both, float(np.quantile(both, KEPT_SHARE)), with_training=True)
    wide = float(np.sort(found)[_tolerance_rank(len(found)) - 1])
    return _limit(found, max(wide, float(np.quantile(found, KEPT_SHARE))))


def _limit(found: Floats, value: float, *, with_training: bool = False) -> Limit:
    return Limit(value, int((found <= value).sum()), len(found), with_training)


def leave_one_out(kept: Halves | Floats) -> Floats:
    """Distances (m,) of the references (m, d) from the others."""
    rows = kept.astype(np.float32, copy=False)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -2)  # none is its own neighbor
    at = max(0, len(rows) - NEIGHBOR)
    nearest: Floats = 1 - np.partition(cosines, at, axis=1)[:, at]
    return nearest


def _are_nearer(left_out: Floats, found: Floats) -> bool:
    """Whether training images are nearer than validation images, by the rank sum (Wilcoxon)."""
    ordered = np.sort(left_out)
    below, up_to = (np.searchsorted(ordered, found, side) for side in ("left", "right"))
    pairs = len(found) * len(left_out)
    excess = float((below + up_to).sum()) / 2 - pairs / 2
    return excess > _NEARER * math.sqrt(pairs * (len(found) + len(left_out) + 1) / 12)


def _tolerance_rank(number: int) -> int:
    """Rank of the value that at least LEAST_KEPT of all are within, nine times in ten: a
    nonparametric tolerance limit (Wilks, 1941). The highest rank where there is none.
    """
    ranks = range(number, 0, -1)
    shares = (
        math.comb(number, rank) * LEAST_KEPT**rank * (1 - LEAST_KEPT) ** (number - rank)
        for rank in ranks
    )
    # The probability that so many of `number` or more are within LEAST_KEPT of all.
    beyond = zip(ranks, accumulate(shares), strict=True)
    return next((min(number, rank + 1) for rank, total in beyond if total > _RISK), 1)


def unit_rows(hidden: Floats | Halves) -> Floats:
    """Rows (n, d) scaled to length 1, float32; a row of zeros stays one."""
    lengths = np.linalg.norm(hidden.astype(np.float32), axis=1, keepdims=True)
    unit: Floats = hidden.astype(np.float32) / np.maximum(lengths, 1e-12)
    return unit


# reliability ---------------------------------------------------------------------------------
# Reliability: whether answers with a confidence of 80% are right in 80% of the cases.
#
# The expected calibration error (ECE; Naeini et al. 2015, Guo et al. 2017) with NUM_BINS bins of
# equal width; the confidence is the probability of the most probable class.

AnyFloats = np.ndarray[Any, np.dtype[np.floating[Any]]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

NUM_BINS = 15

NUM_THRESHOLDS = 101
"""Thresholds 0, 0.01, ... 1 of a coverage curve."""

_DRAWS = 1_000


@dataclass(frozen=True)
class Reliability:
    """What is behind a reliability diagram: a value for each of NUM_BINS bins of equal width.

    Attributes:
        counts: Images whose confidence is in the bin.
        confidence: Their mean confidence, 0..1; 0 without images.
        accuracy: The share of them classified correctly; 0 without images.
    """

    counts: list[int]
    confidence: list[float]
    accuracy: list[float]

    @property
    def error(self) -> float:
        """The expected calibration error: the mean gap between the two, weighted by images."""
        gaps = np.abs(np.array(self.confidence) - np.array(self.accuracy))
        return float((gaps * self.counts).sum() / max(1, sum(self.counts)))

    @property
    def error_by_chance(self) -> float:
        """Mean expected calibration error of answers with these confidences that are right exactly
        as often as they say: with few images it is far from 0.
        """
        counts, shares = np.array(self.counts), np.array(self.confidence).clip(0, 1)
        right = np.random.default_rng(1).binomial(counts, shares, (_DRAWS, len(counts)))
        gaps = np.abs(right - counts * shares).sum(axis=1)
        return float(gaps.mean() / max(1, counts.sum()))


def reliability(confidence: AnyFloats, is_right: Flags) -> Reliability:
    """Sorts images into bins; confidence (n,) in 0..1, and whether each answer is right (n,)."""
    # Bins are closed at their upper end, as in the paper: 1.0 is in the last one.
    places = np.ceil(confidence.astype(np.float64) * NUM_BINS).astype(np.int64) - 1
    places = np.clip(places, 0, NUM_BINS - 1)
    counts = np.bincount(places, minlength=NUM_BINS)
    parts = np.maximum(counts, 1)
    sums = np.bincount(places, weights=confidence, minlength=NUM_BINS)
    right = np.bincount(places, weights=is_right, minlength=NUM_BINS)
    return Reliability(counts.tolist(), (sums / parts).tolist(), (right / parts).tolist())


def kept_counts(confidence: AnyFloats, is_right: Flags) -> tuple[list[int], list[int]]:
    """For each of NUM_THRESHOLDS thresholds: how many images have at least that confidence, and how
    many of them are classified correctly.
    """
    thresholds = np.arange(NUM_THRESHOLDS) / (NUM_THRESHOLDS - 1)
    values = confidence.astype(np.float64)
    all_of, right = np.sort(values), np.sort(values[is_right])
    return (
        (len(all_of) - np.searchsorted(all_of, thresholds)).tolist(),
        (len(right) - np.searchsorted(right, thresholds)).tolist(),
    )


# temperature ---------------------------------------------------------------------------------
# Temperature scaling: one number that makes probabilities match how often they are right.
#
# Guo et al., "On Calibration of Modern Neural Networks", 2017. The logits are divided by a
# temperature, above 1 for a network that is too sure of itself. The order of the classes stays.

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


# verdict -------------------------------------------------------------------------------------
# Whether an answer is "unknown", and the reason in words.

# true class ----------------------------------------------------------------------------------
# Whether an answer is right: one definition for tables, counts and marks.


class TrueClasses:
    """The classes of a model, by the labels of images, compared as in `core.outside_text`.

    Args:
        names: Those of the model.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._known = KnownNames(names)

    def named(self, label: str) -> str:
        """The class that a label names; "" where it is none of the model, or may be several."""
        return self._known.find(label)

    def is_right(self, answer: str, label: str, *, unknown: str) -> bool | None:
        """Whether an answer is the true class.

        Args:
            answer: The most probable class.
            label: That of the image; "" where it has none.
            unknown: Why the answer is "unknown"; "" where it is not.

        Returns:
            None where the answer is "unknown", and where the label names no class of the model.
        """
        true_class = self.named(label)
        return answer == true_class if true_class and not unknown else None


# verdict -------------------------------------------------------------------------------------

UNKNOWN = "Unknown"
FAR = "unlike the training images"


def unknown_reason(
    probability: float,
    *,
    least: float | None,
    distance: float | None = None,
    limit: float | None = None,
) -> str:
    """Why an answer is "unknown"; "" where it is not.

    Args:
        probability: Probability of the most probable class, calibrated where the model is.
        least: Least probability of an answer; None for any.
        distance: Distance of the image from the training images; None where it is not computed.
        limit: Highest distance; None for any.
    """
    if distance is not None and limit is not None and not distance <= limit:
        return FAR
    if least is not None and not probability >= least:
        # Rounded, 69.96% would be "70.0% < 70.0%".
        decimals = 1 if share(probability) != share(least) else 4
        words = f"{share(probability, decimals)} < {share(least, decimals)}"
        return f"not confident enough ({words})"
    return ""


def unknown_words(reason: str) -> str:
    """The answer in words: "Unknown: unlike the training images"."""
    return f"{UNKNOWN}: {reason}"
