"""What a model answers for each image of a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from workbench.core.calibration.distance import Halves, distances
from workbench.core.calibration.temperature import log_probabilities, with_temperature
from workbench.protocol.classify import Score
from workbench.protocol.trained.calibration import Calibration

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Values = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Answers:
    """What a model says of images.

    Attributes:
        raw: Class probabilities as the network gives them, float32 (n, classes).
        probabilities: The calibrated ones; the same where the model is not calibrated.
        distances: From the training images, float32 (n,); None where that is not known.
        raw_losses: Cross-entropy of the uncalibrated outputs, as in training; (n,), may be
            infinite. None without labels.
    """

    raw: Values
    probabilities: Values
    distances: Values | None
    raw_losses: Values | None = None


def answers_of(
    found: Calibration,
    references: Halves | Values | None,
    raw: Values,
    hidden: Values,
    raw_losses: Values | None = None,
) -> Answers:
    """The answers of a model with this calibration, by its outputs.

    Args:
        found: Its calibration.
        references: What the distance is measured by (m, d); None where it is not.
        raw: Probabilities as the network gives them, float32 (n, classes).
        hidden: Outputs of the last hidden layer (n, d); they do not matter without references.
        raw_losses: As in Answers.
    """
    far = None if references is None else distances(hidden, references)
    return Answers(raw, with_temperature(raw, found.temperature), far, raw_losses)


@dataclass(frozen=True)
class ImageResults:
    """What a model answers for some images, (n,) each.

    Attributes:
        predicted: The most probable class, int64.
        probability: Of that class, float32; calibrated where the model is.
        rank: How many classes are more probable than the true one, int64.
        losses: Cross-entropy of the probabilities that `probability` is one of, float32.
        raw: `probability` without the temperature, float32.
        raw_losses: Cross-entropy without the temperature, float32; may be infinite.
        distances: From the training images, float32; NaN where that is not known.
    """

    predicted: Numbers
    probability: Values
    rank: Numbers
    losses: Values
    raw: Values
    raw_losses: Values
    distances: Values

    @property
    def loss(self) -> float:
        """The mean of the uncalibrated losses, as in training."""
        return float(self.raw_losses.mean(dtype=np.float64))


def results_of(found: Answers, labels: Numbers) -> ImageResults:
    """What matters of answers with losses, for images with these labels (n,)."""
    assert found.raw_losses is not None  # noqa: S101 - for the type
    rows, far = found.probabilities, found.distances
    own = np.take_along_axis(rows, labels[:, None], axis=1)
    return ImageResults(
        predicted=rows.argmax(axis=1),
        probability=rows.max(axis=1),
        rank=(rows > own).sum(axis=1),
        losses=np.maximum(-log_probabilities(own)[:, 0], 0).astype(np.float32),
        raw=found.raw.max(axis=1),
        raw_losses=found.raw_losses,
        distances=np.full(len(rows), np.nan, np.float32) if far is None else far,
    )


def joined_results(pieces: Sequence[ImageResults]) -> ImageResults:
    """One after the other, at least one."""
    names = [field.name for field in fields(ImageResults)]
    return ImageResults(
        **{name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in names}
    )


def ranked(probabilities: Values, class_names: list[str], top: int) -> list[Score]:
    """The `top` classes, 0 for all, by probability (classes,), highest first; equal ones in the
    classes' own order.
    """
    order = np.argsort(-probabilities, kind="stable")[: top or len(class_names)]
    return [Score(name=class_names[i], probability=float(probabilities[i])) for i in order]
