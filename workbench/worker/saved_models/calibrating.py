"""Fits what a model's card keeps of its calibration, by its answers for validation images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import msgspec
import numpy as np

from workbench.core.calibration import (
    FOLDS,
    LEAST_FOR_LIMIT,
    LEAST_IMAGES,
    Halves,
    distances,
    fit,
    kept_counts,
    limit_of,
    reference_places,
    references,
    reliability,
    uncalibrated,
)
from workbench.core.training.recipe import TrainingRecipe
from workbench.inference.runner import ImageResults, Numbers, Values
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.trained.calibration import (
    Bins,
    Calibration,
    CalibrationScores,
    DistanceMark,
    KeptImages,
)
from workbench.worker.process.run_channel import finite

# reliability scores --------------------------------------------------------------------------
# What an evaluation says of a model's probabilities: reliability, and what thresholds keep.

Flags = np.ndarray[Any, np.dtype[np.bool_]]


def calibration_scores(
    found: Calibration, results: ImageResults, truth: Numbers
) -> CalibrationScores | None:
    """Scores of the answers to at least one image; None where one is not finite.

    Args:
        found: The model's calibration.
        results: Its answers.
        truth: The labels (n,).
    """
    if not np.isfinite(results.probability).all() or not np.isfinite(results.raw).all():
        return None
    is_right = results.predicted == truth
    # Without softmax at its end, a network may give more than 1, rounded.
    before, after = (_bins(values, is_right) for values in (results.raw, results.probability))
    mark, near = found.distance, None
    if mark is not None and np.isfinite(results.distances).all():
        is_near = results.distances <= mark.limit
        near = _kept(results.probability[is_near], is_right[is_near])
    return CalibrationScores(
        temperature=found.temperature,
        expected_calibration_error=after.error,
        reason=found.reason,
        before=before,
        after=after,
        kept=_kept(results.probability, is_right),
        kept_near=near,
        no_distance=found.no_distance,
        negative_log_likelihood=finite(float(results.losses.mean(dtype=np.float64))),
        loss_before=finite(results.loss),
    )


def _bins(confidence: Values, is_right: Flags) -> Bins:
    return Bins(**asdict(reliability(np.clip(confidence, 0, 1), is_right)))


def _kept(confidence: Values, is_right: Flags) -> KeptImages:
    kept, right = kept_counts(confidence, is_right)
    return KeptImages(all=kept, right=right)


# calibrating ---------------------------------------------------------------------------------

Floats = np.ndarray[Any, np.dtype[np.float32]]
Labels = np.ndarray[Any, np.dtype[np.int64]]
Measure = Callable[[PreparedPart], tuple[Floats, Floats]]
"""Images -> uncalibrated probabilities (n, classes), and hidden outputs (n, d)."""

MOST_VALIDATION = 5000
"""Validation images that are used: more change the temperature by less than a hundredth."""

_FEWEST, _MOST_NUMBERS = 300, 2_000_000
"""With thousands of classes fewer images are used, so that fitting takes seconds."""

_SEED = 6
_UNSAVED = "0" * 64


def refusal(recipe: TrainingRecipe, validation: PreparedPart | None) -> str:
    """Why a model cannot be calibrated; "" where it can."""
    if recipe.validation == "test":
        return "its validation images are the test images, which would no longer test it"
    if validation is None or not len(validation):
        return "it was trained without validation images"
    if len(validation) < LEAST_IMAGES:
        return f"{len(validation)} validation images are too few"
    return ""


def fit_calibration(
    validation: PreparedPart, train: PreparedPart, num_hidden: int, measure: Measure
) -> tuple[Calibration, Halves | None]:
    """Temperature and distance of a model; the distance's checksum is filled in when it is saved.

    Args:
        validation: At least LEAST_IMAGES images that it was not trained on.
        train: Those that it was trained on.
        num_hidden: Outputs of its last hidden layer; 0 without one.
        measure: Computes its answers.
    """
    chosen = _some(validation, MOST_VALIDATION)
    probabilities, hidden = measure(chosen)
    if not np.isfinite(probabilities).all():
        return Calibration(reason="its outputs are not finite", no_distance=_NOT_FINITE), None
    rows = _some_rows(len(chosen), max(_FEWEST, _MOST_NUMBERS // probabilities.shape[1]))
    found = _temperature(probabilities[rows], chosen.y[rows])
    places = reference_places(len(train), num_hidden)
    reason = _no_distance(num_hidden, len(places), hidden)
    if not reason:
        _, of_train = measure(train.picked(places))
        reason = "" if np.isfinite(of_train).all() else _NOT_FINITE
    if reason:
        return msgspec.structs.replace(found, no_distance=reason), None
    kept = references(of_train)
    limit = limit_of(distances(hidden, kept), kept)
    mark = DistanceMark(
        checksum=_UNSAVED,
        limit=limit.value,
        is_on=len(chosen) >= LEAST_FOR_LIMIT,
        within=limit.within,
        count=limit.count,
        with_training=limit.with_training,
    )
    return msgspec.structs.replace(found, distance=mark), kept


_NOT_FINITE = "the outputs of the last hidden layer are not finite"


def _no_distance(num_hidden: int, num_places: int, hidden: Floats) -> str:
    if not num_hidden:
        return "the model has no hidden layer"
    if not num_places:
        return "there are too few training images for so many outputs of the last hidden layer"
    return "" if np.isfinite(hidden).all() else _NOT_FINITE


def _temperature(probabilities: Floats, labels: Labels) -> Calibration:
    found = fit(probabilities, labels)
    measured = found.measured
    if measured is None:
        measured = uncalibrated(probabilities, labels)
    return Calibration(
        temperature=found.temperature,
        reason=found.reason,
        count=len(labels),
        loss_before=measured.loss_before,
        loss_after=measured.loss_after,
        error_before=measured.error_before,
        error_after=measured.error_after,
        loss_change=measured.loss_change,
        error_change=measured.error_change,
        folds=FOLDS,
    )


def _some(part: PreparedPart, most: int) -> PreparedPart:
    if len(part) <= most:
        return part
    return part.picked(_some_rows(len(part), most))


def _some_rows(number: int, most: int) -> Labels:
    """At most so many of the first `number` integers, rising; the same each time."""
    return np.sort(np.random.default_rng(_SEED).permutation(number)[:most])
