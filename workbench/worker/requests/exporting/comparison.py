"""How near the answers of an export are to the model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import SaveError
from workbench.inference.runner import Labels, Pixels

Values = np.ndarray[Any, np.dtype[Any]]
Places = np.ndarray[Any, np.dtype[np.int64]]

TOLERANCE = 1e-4
"""Largest difference of a float32 answer, absolute, or relative where answers are above 1.
TensorFlow's own difference, of one and eight images, is up to 5e-5."""

_NEAR = 0.1
"""A class of so little less probability is as good an answer, where numbers have 8 or 16 bits."""

_LEAST_AGREEMENT = 0.95
_MOST_MEAN = 0.1
"""What may be moved of an image's probability from class to class, in the mean of all images."""


@dataclass(frozen=True)
class Comparison:
    """Answers for the same images.

    Attributes:
        difference: The largest of a probability.
        agreement: Share of the images with the same most probable class.
        accuracy, model_accuracy: Shares of right classes; None without labels.
        reason: Why the answers do not agree; "" where they do.
    """

    difference: float
    agreement: float
    accuracy: float | None
    model_accuracy: float | None
    reason: str


def compare(
    expected: Values, found: Values, labels: Labels | None, *, is_exact: bool
) -> Comparison:
    """Compares probabilities (n, classes) for images with these labels (n,).

    Args:
        expected: The model's.
        found: The export's.
        labels: True classes where they are known.
        is_exact: As of ExportReader.
    """
    if found.shape != expected.shape or not np.isfinite(found).all():
        shape = f"answers of shape {found.shape}, not {expected.shape}"
        reason = shape if found.shape != expected.shape else "answers that are not finite"
        return Comparison(float("inf"), 0.0, None, None, reason)
    theirs, ours = found.argmax(axis=1), expected.argmax(axis=1)
    difference = float(np.abs(expected.astype(np.float64) - found).max())
    agreement = float((theirs == ours).mean())
    wrong = _inexact(expected, found) if is_exact else _coarse(expected, found)
    if labels is None:
        return Comparison(difference, agreement, None, None, wrong)
    accuracy, model_accuracy = float((theirs == labels).mean()), float((ours == labels).mean())
    return Comparison(difference, agreement, accuracy, model_accuracy, wrong)


def _inexact(expected: Values, found: Values) -> str:
    difference = float(np.abs(expected.astype(np.float64) - found).max())
    most = TOLERANCE * max(1.0, float(np.abs(expected).max()))
    return "" if difference <= most else f"a probability differs by {difference:.2g}"


def _coarse(expected: Values, found: Values) -> str:
    rows = np.arange(len(expected))
    lost = expected.max(axis=1) - expected[rows, found.argmax(axis=1)]
    share = float((lost <= _NEAR).mean())
    if share < _LEAST_AGREEMENT:
        return f"{1 - share:.0%} of the images get another class"
    moved = float(np.abs(expected.astype(np.float64) - found).sum(axis=1).mean() / 2)
    if moved > _MOST_MEAN:
        return f"probabilities differ by {moved:.0%} of an image in the mean"
    return ""


def worst_images(expected: Values, found: Values, count: int) -> Places:
    """Which images of some, at most so many, have answers (n, classes) that differ most."""
    if found.shape != expected.shape:
        return np.arange(min(count, len(expected)))
    gap = np.abs(expected.astype(np.float64) - found).max(axis=1)
    return np.argsort(-np.nan_to_num(gap, nan=np.inf), kind="stable")[:count]


def first_fault(
    expected: Mapping[str, Values], found: Mapping[str, Values], *, is_exact: bool
) -> str | None:
    """The first of some layers, by name in the order data flows, whose outputs differ by more than
    rounding; None where all are alike.
    """
    most = 1e-3 if is_exact else 0.25
    for name, ours in expected.items():
        theirs = found.get(name)
        if theirs is None or theirs.size != ours.size:
            return name
        size = float(np.sqrt(np.mean(np.square(ours, dtype=np.float64)))) + 1e-6
        gap = np.sqrt(np.mean(np.square(theirs.astype(np.float64).ravel() - ours.ravel())))
        if not gap <= most * size:
            return name
    return None


def noise(count: int, shape: Sequence[int]) -> Pixels:
    """Images of noise of a shape (height, width, channels), the same each time."""
    return np.random.default_rng(8).integers(0, 256, (count, *shape), dtype=np.uint8)


def compare_answers(ours: Any, theirs: Any, pictures: Pixels, what: str, where: str) -> float:
    """The largest difference between the answers of two Keras models for some images.

    Raises:
        SaveError: in the words `what`, where it is too large.
    """
    x = pictures.astype(np.float32)
    expected = np.asarray(ours(x, training=False), np.float64)
    difference = float(np.abs(expected - np.asarray(theirs(x, training=False), np.float64)).max())
    if not difference <= TOLERANCE * max(1.0, float(np.abs(expected).max())):
        raise SaveError(
            what,
            where=where,
            received=f"a difference of {difference:.2g}",
            expected=f"at most {TOLERANCE:g}",
            fix="Please report this with the project file.",
        )
    return difference
