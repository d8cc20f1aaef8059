"""Fits what a model's card keeps of its calibration, by its answers for validation images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from workbench.core.calibration.distance import (
    LEAST_FOR_LIMIT,
    Halves,
    distances,
    limit_of,
    reference_places,
    references,
)
from workbench.core.calibration.reliability import reliability
from workbench.core.calibration.temperature import (
    LEAST_IMAGES,
    fit_temperature,
    mean_loss,
    with_temperature,
)
from workbench.core.format import count
from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.trained.calibration import Calibration, DistanceMark

Floats = np.ndarray[Any, np.dtype[np.float32]]
Labels = np.ndarray[Any, np.dtype[np.int64]]
Measure = Callable[[PreparedPart], tuple[Floats, Floats]]
"""Images -> uncalibrated probabilities (n, classes), and hidden outputs (n, d)."""

MOST_VALIDATION = 5000
"""Validation images that are used: more change the temperature by less than a hundredth."""

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
    found = _temperature(probabilities, chosen.y)
    places = reference_places(len(train), num_hidden)
    reason = _no_distance(num_hidden, len(places), hidden)
    if not reason:
        _, of_train = measure(train.picked(places))
        reason = "" if np.isfinite(of_train).all() else _NOT_FINITE
    if reason:
        return msgspec.structs.replace(found, no_distance=reason), None
    kept = references(of_train)
    limit, is_on = limit_of(distances(hidden, kept)), len(chosen) >= LEAST_FOR_LIMIT
    mark = DistanceMark(checksum=_UNSAVED, limit=limit, is_on=is_on)
    return msgspec.structs.replace(found, distance=mark), kept


_NOT_FINITE = "the outputs of the last hidden layer are not finite"


def _no_distance(num_hidden: int, num_places: int, hidden: Floats) -> str:
    if not num_hidden:
        return "the model has no hidden layer"
    if not num_places:
        return "there are too few training images for so many outputs of the last hidden layer"
    return "" if np.isfinite(hidden).all() else _NOT_FINITE


def _temperature(probabilities: Floats, labels: Labels) -> Calibration:
    is_right = probabilities.argmax(axis=1) == labels
    if is_right.all():  # every lower temperature would be better: in the end, all is 100%
        words = f"all {count(len(labels))} validation images are classified correctly"
        return Calibration(reason=f"{words}, so that there are no errors to fit it to")
    temperature = fit_temperature(probabilities, labels)
    calibrated = with_temperature(probabilities, temperature)
    return Calibration(
        temperature=temperature,
        count=len(labels),
        loss_before=mean_loss(probabilities, labels),
        loss_after=mean_loss(probabilities, labels, temperature),
        error_before=reliability(probabilities.max(axis=1), is_right).error,
        error_after=reliability(calibrated.max(axis=1), is_right).error,
    )


def _some(part: PreparedPart, most: int) -> PreparedPart:
    if len(part) <= most:
        return part
    return part.picked(np.sort(np.random.default_rng(_SEED).permutation(len(part))[:most]))
