"""Calibration of a run's model: what is kept of it, measuring it, and what an evaluation shows."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from workbench.core.calibration import LIMITS, NUM_BINS, NUM_THRESHOLDS, Reliability
from workbench.core.evaluation.significance import wilson_interval
from workbench.core.format import count, share
from workbench.protocol.bases import Request
from workbench.protocol.messages import Done

_Share = Annotated[float, Meta(ge=0, le=1)]
_Finite = Annotated[float, Meta(ge=0, le=1e6)]
_Count = Annotated[int, Meta(ge=0, le=2**53)]
_Words = Annotated[str, Meta(max_length=400)]
_Bins = Annotated[list[_Share], Meta(min_length=NUM_BINS, max_length=NUM_BINS)]
_BinCounts = Annotated[list[_Count], Meta(min_length=NUM_BINS, max_length=NUM_BINS)]
_Curve = Annotated[list[_Count], Meta(min_length=NUM_THRESHOLDS, max_length=NUM_THRESHOLDS)]


NOT_YET = "it was not calibrated yet"

_SWITCH = "Switch it on under Evaluate > Calibration (workbench calibrate RUN --distance on)."


class DistanceMark(msgspec.Struct, frozen=True, kw_only=True):
    """The check of the distance from the training images.

    Attributes:
        checksum: SHA-256 of the references, which are in a file of their own.
        limit: Highest distance of an image that is not "unknown", 0..2.
        is_on: Whether it is applied.
        within, count: How many of the images that the limit was found by are within it, and how
            many they are; 0 in cards of earlier versions.
        with_training: Training images are among them, each left out in turn.
    """

    checksum: Annotated[str, Meta(min_length=64, max_length=64)]
    limit: Annotated[float, Meta(ge=-1, le=3)]
    is_on: bool = True
    within: _Count = 0
    count: _Count = 0
    with_training: bool = False

    def __post_init__(self) -> None:
        if self.within > self.count:
            raise ValueError(f"{self.within} of {self.count} images are within the limit")

    @property
    def words(self) -> str:
        """How sure the limit is: "95% of 183 images are within (95% interval 90.8% to 97.3%)"; ""
        where that is not known.
        """
        if not self.count:
            return ""
        low, high = wilson_interval(self.within, self.count)
        kinds = "training and validation" if self.with_training else "validation"
        return (
            f"{share(self.within / self.count)} of {count(self.count)} {kinds} images are within "
            f"(95% interval {share(low)} to {share(high)})"
        )


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """Temperature and thresholds of a model, in its model card.

    Attributes:
        temperature: Its logits are divided by it; None for not calibrated.
        reason: Why there is no temperature; "" where there is one.
        count: Validation images that it was fitted on.
        loss_before, loss_after: Mean negative log-likelihood on them without and with it, by
            cross-validation.
        error_before, error_after: Expected calibration error on them, of 15 bins of equal width, by
            cross-validation.
        loss_change, error_change: 95% intervals of after less before, by the bootstrap.
        folds: Parts of the cross-validation; 0 in cards of earlier versions, which measured on the
            images that the temperature was fitted on.
        least_probability: Least probability of an answer that is not "unknown"; None for any.
        distance: The check of the distance; None without one.
        no_distance: Why there is none; "" where there is one.
        wants_distance: What was chosen for the check while there is none; None for no choice.
    """

    temperature: Annotated[float, Meta(ge=LIMITS[0] / 2, le=LIMITS[1] * 2)] | None = None
    reason: _Words = ""
    count: _Count = 0
    loss_before: _Finite | None = None
    loss_after: _Finite | None = None
    error_before: _Share | None = None
    error_after: _Share | None = None
    loss_change: tuple[float, float] | None = None
    error_change: tuple[float, float] | None = None
    folds: _Count = 0
    least_probability: _Share | None = None
    distance: DistanceMark | None = None
    no_distance: _Words = ""
    wants_distance: bool | None = None

    @property
    def limit(self) -> float | None:
        """Highest distance; None where it is not checked."""
        return self.distance.limit if self.distance is not None and self.distance.is_on else None

    @property
    def blind_words(self) -> str:
        """Sentence that, and why, no picture is answered with "unknown" for being unlike the
        training images, and how that is changed; "" where it is checked.
        """
        if self.limit is not None:
            return ""
        words = "Pictures that show none of the classes get one of them"
        if self.distance is not None:
            return f"{words}: the check of unknown pictures is off. {_SWITCH}"
        return f"{words}: there is no check of unknown pictures, as {self.no_distance or NOT_YET}."

    def with_thresholds(
        self, *, least_probability: float | None, checks_distance: bool | None
    ) -> Calibration:
        """The calibration with these thresholds: the least probability of an answer, None for any;
        and whether the distance is checked, None to leave that.
        """
        mark, wanted = self.distance, self.wants_distance
        if checks_distance is not None:
            wanted = checks_distance if mark is None else None
            mark = mark and msgspec.structs.replace(mark, is_on=checks_distance)
        return msgspec.structs.replace(
            self, least_probability=least_probability, distance=mark, wants_distance=wanted
        )

    def with_thresholds_of(self, other: Calibration | None) -> Calibration:
        """The calibration with the thresholds of another one; unchanged for None."""
        if other is None:
            return self
        mark = other.distance
        checks_distance = other.wants_distance if mark is None else mark.is_on
        return self.with_thresholds(
            least_probability=other.least_probability, checks_distance=checks_distance
        )


class Bins(msgspec.Struct, frozen=True, kw_only=True):
    """A reliability diagram, see `core.calibration.Reliability`."""

    counts: _BinCounts
    confidence: _Bins
    accuracy: _Bins

    @property
    def error(self) -> float:
        """The expected calibration error."""
        return Reliability(self.counts, self.confidence, self.accuracy).error

    @property
    def error_by_chance(self) -> float:
        """Expected error of a perfectly calibrated model with these confidences."""
        return Reliability(self.counts, self.confidence, self.accuracy).error_by_chance


class KeptImages(msgspec.Struct, frozen=True, kw_only=True):
    """For each threshold 0, 0.01, ... 1: images with at least that probability, and those of them
    that are classified correctly.
    """

    all: _Curve
    right: _Curve


class CalibrationScores(msgspec.Struct, frozen=True, kw_only=True):
    """What an evaluation says of a model's probabilities.

    Attributes:
        temperature, reason: As in `Calibration`.
        expected_calibration_error: ECE of the probabilities that the model answers with, 0..1.
        negative_log_likelihood: Mean over the images, of the same probabilities; None in
            evaluations of earlier versions, and where it is not finite.
        loss_before: The same without the temperature.
        before, after: Without and with the temperature; the same without one.
        kept: How many images are kept by a threshold.
        kept_near: The same among images within the limit of the distance, also where that is not
            checked; None where it is not known.
        no_distance: Why there is no such check.
    """

    temperature: Annotated[float, Meta(gt=0, le=1e3)] | None
    expected_calibration_error: _Share
    reason: _Words = ""
    before: Bins
    after: Bins
    kept: KeptImages
    negative_log_likelihood: float | None = None
    loss_before: float | None = None
    kept_near: KeptImages | None = None
    no_distance: _Words = ""


class Calibrate(Request, frozen=True, kw_only=True, tag="calibrate"):
    """Fits temperature and distance of a run's model on its validation images, and keeps them with
    the run. Answer: Done with what was found in words.
    """

    final_answer = Done
    handler = "trained.calibrate"

    model: str


def calibration_words(found: Calibration) -> str:
    """What a calibration has found, in one sentence."""
    if found.temperature is None:
        return f"Not calibrated: {found.reason or 'there is no temperature'}."
    how = (
        f"by {found.folds}-fold cross-validation, on images that it was not fitted on"
        if found.folds
        else "on the same images"
    )
    return (
        f"Calibrated on {found.count:,} validation images: temperature {found.temperature:.2f}; "
        f"{how}, negative log-likelihood "
        f"{_change(found.loss_before, found.loss_after, found.loss_change)}, expected calibration "
        f"error {_change(found.error_before, found.error_after, found.error_change)}."
    )


def reliability_words(found: CalibrationScores) -> str:
    """How far the probabilities of an evaluation can be trusted, without a full stop."""
    loss, after = found.loss_before, found.negative_log_likelihood
    before, error = found.before.error, found.expected_calibration_error
    if found.temperature is None:
        words = f"negative log-likelihood {_figure(after)}, expected calibration error {error:.3f}"
        return f"{words}; not calibrated: {found.reason}" if found.reason else words
    return (
        f"temperature {found.temperature:.2f}; negative log-likelihood {_figure(loss)} before, "
        f"{_figure(after)} after; expected calibration error {before:.3f} before, {error:.3f} after"
    )


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _change(before: float | None, after: float | None, interval: tuple[float, float] | None) -> str:
    words = f"{_figure(before)} before, {_figure(after)} after"
    if interval is None:
        return words
    return f"{words} (change {interval[0]:+.3f} to {interval[1]:+.3f}, 95% interval)"
