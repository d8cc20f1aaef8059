"""What a model answers for each image of a set."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from tempfile import TemporaryFile, gettempdir
from typing import Any

import numpy as np

from workbench.core.calibration.distance import Halves, distances
from workbench.core.calibration.temperature import log_probabilities, with_temperature
from workbench.core.evaluation.top_k import ranks_of
from workbench.errors import SaveError, os_errors_as
from workbench.protocol.classify import Score
from workbench.protocol.trained.calibration import Calibration

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Values = np.ndarray[Any, np.dtype[np.float32]]
Doubles = np.ndarray[Any, np.dtype[np.float64]]

_MOST_BYTES = 256 * 2**20
"""Probabilities of more bytes are collected in a file that has no name."""

_NO_ROOM = "There is no room for the probabilities of all classes."


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
        probability: Probability of that class, float32; calibrated where the model is.
        rank: How many classes are before the true one, the most probable first and equally probable
            ones in their own order, int64: 0 where it is the predicted one.
        losses: Cross-entropy of the probabilities that `probability` is one of, float64.
        raw: `probability` without the temperature, float32.
        raw_losses: Cross-entropy without the temperature, float32; may be infinite.
        distances: From the training images, float32; NaN where that is not known.
        rows: The probabilities of all classes, float32 (n, classes), that `probability` is one of;
            may be in a file. None where they were not collected.
    """

    predicted: Numbers
    probability: Values
    rank: Numbers
    losses: Doubles
    raw: Values
    raw_losses: Values
    distances: Values
    rows: Values | None = None

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
        rank=ranks_of(rows, labels),
        losses=np.maximum(-log_probabilities(own)[:, 0], 0),
        raw=found.raw.max(axis=1),
        raw_losses=found.raw_losses,
        distances=np.full(len(rows), np.nan, np.float32) if far is None else far,
    )


def joined_results(pieces: Sequence[ImageResults], rows: Values | None = None) -> ImageResults:
    """Concatenates results, at least one; with the probabilities of all classes that were collected
    beside them.
    """
    names = [field.name for field in fields(ImageResults) if field.name != "rows"]
    columns = {name: np.concatenate([getattr(each, name) for each in pieces]) for name in names}
    return ImageResults(**columns, rows=rows)


def room_for(count: int, num_classes: int) -> Values:
    """Room for the probabilities of all classes for so many images (count, classes): in memory, or
    of very many in a file that is gone with it. Raises SaveError where the disk has no room.
    """
    shape = (count, num_classes)
    size = 4 * count * num_classes
    if size <= _MOST_BYTES:
        return np.empty(shape, np.float32)
    with TemporaryFile(prefix="workbench-scores-") as file:
        with os_errors_as(SaveError, _NO_ROOM, gettempdir()):
            # Reserved at once: a write to a mapped file on a full disk would end the process.
            os.posix_fallocate(file.fileno(), 0, size)
        return np.memmap(file, np.float32, "r+", shape=shape)


def ranked(probabilities: Values, class_names: list[str], top: int) -> list[Score]:
    """The `top` classes, 0 for all, by probability (classes,), highest first; equal ones in the
    classes' own order.
    """
    order = np.argsort(-probabilities, kind="stable")[: top or len(class_names)]
    return [Score(name=class_names[i], probability=float(probabilities[i])) for i in order]
