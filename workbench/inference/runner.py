"""A model with its weights that classifies images, whatever computes it."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from tempfile import TemporaryFile, gettempdir
from typing import Any, TypeVar

import msgspec
import numpy as np

from workbench.core.calibration import (
    Halves,
    distances,
    log_probabilities,
    unknown_reason,
    with_temperature,
)
from workbench.core.evaluation.confusion import Confusion
from workbench.core.evaluation.ranking import Areas, ranks_of
from workbench.core.specs import Shape
from workbench.errors import RunError, SaveError, WeightsError, os_errors_as
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.rows import Rows
from workbench.pictures.thumbnails import decode_reduced
from workbench.processes.memory import available_memory
from workbench.protocol.classify import Score
from workbench.protocol.trained.calibration import Calibration
from workbench.protocol.trained.evaluate import ClassScore
from workbench.runs.model_card import ModelCard

# answers -------------------------------------------------------------------------------------
# What a model answers for each image of a set.

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


# saved model ---------------------------------------------------------------------------------
# What loading a saved model begins with, whatever computes it.

Loaded = TypeVar("Loaded")


def load_by_card(read: Callable[[], ModelCard], load: Callable[[ModelCard], Loaded]) -> Loaded:
    """A model by its card; once more by a newer card where a trainer has kept newer weights between
    the reading of card and weights. Raises what `read` and `load` raise.
    """
    card = read()
    try:
        return load(card)
    except WeightsError:
        newer = read()
        if newer.checksum == card.checksum:
            raise
        return load(newer)


def refuse_large(num_bytes: int, words: str, where: str) -> None:
    """Raises WeightsError for a model of so many bytes, in words, where that is more than 90% of
    the free memory.
    """
    most = int(0.9 * available_memory())
    if num_bytes > most:
        raise WeightsError(
            "The model is too large for this computer.",
            where=where,
            received=f"{num_bytes:,} {words}",
            expected=f"at most {most:,} bytes, 90% of the free memory",
        )


def references_of(card: ModelCard, read: Callable[[str], Halves]) -> Halves | None:
    """What the distance is measured by; None where there is none, or, with a line in the log, where
    it cannot be used: the model classifies without it.

    Args:
        card: The model's card.
        read: Reads them, of a checksum; raises WeightsError.
    """
    mark = card.calibration.distance if card.calibration is not None else None
    if mark is None:
        return None
    try:
        return read(mark.checksum)
    except WeightsError as error:
        sys.stderr.write(f"The distance from the training images is not checked. {error}\n")
        return None


def with_all_names(card: ModelCard, units: int, shape: Shape, where: str) -> ModelCard:
    """The card with a name for each output: a network may have more outputs than classes.

    Args:
        card: The card.
        units: Outputs of its network.
        shape: (height, width, channels) of the network's images.
        where: For the words of an error.

    Raises:
        WeightsError: the card is not of this network.
    """
    if units < len(card.class_names) or tuple(shape) != tuple(card.input_shape):
        raise WeightsError(
            "The model card does not match its model.",
            where=where,
            received=f"{len(card.class_names)} classes, images {tuple(card.input_shape)}",
            expected=f"{units} classes, images {tuple(shape)}",
        )
    unnamed = [f"output {number + 1}" for number in range(len(card.class_names), units)]
    return msgspec.structs.replace(card, class_names=[*card.class_names, *unnamed])


# class scores --------------------------------------------------------------------------------
# The scores of each class, by a confusion matrix.


def class_scores(
    confusion: Confusion, class_names: Sequence[str], areas: Areas | None = None
) -> list[ClassScore]:
    """Precision, recall and F1 of each class, 0 where there is nothing to divide by; and its areas,
    where they are known.
    """
    right = confusion.right.astype(np.float64)
    true_counts, predicted_counts = confusion.actual_totals, confusion.predicted_totals
    precision = right / np.maximum(predicted_counts, 1)
    recall = right / np.maximum(true_counts, 1)
    both = precision + recall
    f1 = 2 * precision * recall / np.where(both > 0, both, 1)
    return [
        ClassScore(
            name=name,
            precision=float(precision[label]),
            recall=float(recall[label]),
            f1=float(f1[label]),
            count=int(true_counts[label]),
            roc_auc=areas.classes[label].roc_auc if areas else None,
            average_precision=areas.classes[label].average_precision if areas else None,
        )
        for label, name in enumerate(class_names)
    ]


# runner --------------------------------------------------------------------------------------

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Labels = np.ndarray[Any, np.dtype[np.int64]]
Probabilities = np.ndarray[Any, np.dtype[np.float32]]
Losses = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Outputs:
    """What a network computes for some images.

    Attributes:
        probabilities: float32 (n, classes), not calibrated.
        hidden: Outputs of the last hidden layer, float32 (n, d); of no columns without one.
        losses: Cross-entropy, float32 (n,); None where there were no labels.
    """

    probabilities: Probabilities
    hidden: Probabilities
    losses: Losses | None = None


class Runner(ABC):
    """The whole network: preprocessing inside, augmentation at rest.

    Args:
        card: Its card, with the calibration and a name for each output.
        hidden_size: Outputs of the last hidden layer; 0 without one.
        references: What the distance from the training images is measured by; None for nothing.

    Attributes:
        extras: What others have made for this model, by their key; it is gone with the model.
    """

    def __init__(self, card: ModelCard, hidden_size: int, references: Halves | None) -> None:
        self.card = card
        self.hidden_size = hidden_size
        self.calibration = card.calibration or Calibration()
        self.extras: dict[str, Any] = {}
        self._shape = tuple(card.input_shape)
        # Converted once: each comparison would take another millisecond.
        fits = references is not None and references.shape[1:] == (hidden_size,)
        self.references = references.astype(np.float32) if references is not None and fits else None

    @abstractmethod
    def _compute(self, x: Pixels, labels: Labels | None) -> Outputs:
        """The network's outputs for images of its shape, with losses where there are labels."""

    def decoded(self, picture: str) -> tuple[Pixels, Pixels]:
        """An image, uint8 (height, width, channels), and the same as it is fitted to the model.

        Raises:
            PictureError: it cannot be read.
        """
        side, value_range = side_to_decode(self._shape), self.card.value_range
        whole = decode_reduced(picture, side, value_range=value_range).pixels
        return whole, fit_picture(whole, self._shape, fit=self.card.fit)

    def predict(self, x: Pixels) -> Probabilities:
        """Class probabilities of images, calibrated where the model is.

        From uint8 (n, height, width, channels), fitted to the card's input shape, to float32
        (n, classes); each row sums to 1 where the network ends in a softmax.

        Raises:
            RunError: the network's answer is not finite: its training has diverged.
        """
        return self.answer(x).probabilities

    def answer(self, x: Pixels) -> Answers:
        """Predicts as `predict` does, with the distance from the training images."""
        return self._answers(self._outputs(x, None))

    def outputs(self, x: Pixels) -> tuple[Probabilities, Probabilities]:
        """Uncalibrated probabilities (n, classes) and the outputs of the last hidden layer (n, d),
        no columns without one; errors as `predict`.
        """
        found = self._outputs(x, None)
        return found.probabilities, found.hidden

    def score(self, x: Pixels, labels: Labels) -> Answers:
        """Predicts as `answer` does, with each image's loss. Labels are int64 (n,)."""
        return self._answers(self._outputs(x, labels))

    def score_with_hidden(self, x: Pixels, labels: Labels) -> tuple[Answers, Probabilities]:
        """The same, with the outputs of the last hidden layer (n, d)."""
        found = self._outputs(x, labels)
        return self._answers(found), found.hidden

    def unknown(self, answers: Answers, place: int) -> str:
        """Why the answer to the image at a place is "unknown"; "" where it is not."""
        found, far = self.calibration, answers.distances
        return unknown_reason(
            float(answers.probabilities[place].max()),
            least=found.least_probability,
            distance=float(far[place]) if far is not None else None,
            limit=found.limit,
        )

    def _outputs(self, x: Pixels, labels: Labels | None) -> Outputs:
        if x.shape[1:] != self._shape:
            raise ValueError(f"images of shape {x.shape[1:]}, not {self._shape}")
        if not len(x):
            none = np.zeros((0, len(self.card.class_names)), np.float32)
            return Outputs(none, np.zeros((0, self.hidden_size), np.float32), none[:, 0])
        found = self._compute(x, labels)
        if not np.isfinite(found.probabilities).all():
            raise RunError(
                "The outputs of the model are not finite: its training diverged.",
                where=self.card.title,
                fix="Train it again with a lower learning rate.",
            )
        return found

    def _answers(self, found: Outputs) -> Answers:
        return answers_of(
            self.calibration, self.references, found.probabilities, found.hidden, found.losses
        )


def joined_outputs(pieces: list[Outputs]) -> Outputs:
    """The outputs for some images after each other, at least one."""
    losses = [piece.losses for piece in pieces if piece.losses is not None]
    return Outputs(
        np.concatenate([piece.probabilities for piece in pieces]),
        np.concatenate([piece.hidden for piece in pieces]),
        np.concatenate(losses) if losses else None,
    )


# scoring -------------------------------------------------------------------------------------
# Scores of a saved model: the one way, for the test of a trainer and for Evaluate.

_STEP = 512


def score_all(
    runner: Runner, x: Rows, truth: Labels, on_progress: Callable[[float], None]
) -> ImageResults:
    """Scores images uint8 (n, height, width, channels), at least one.

    Args:
        runner: The model, which computes in float32.
        x: Images fitted to the model.
        truth: Their labels int64 (n,).
        on_progress: Called with the fraction done, 0..1, before each step; may raise to stop.
    """
    steps, rows = [], room_for(len(x), len(runner.card.class_names))
    for start in range(0, len(x), _STEP):
        on_progress(start / len(x))
        labels = truth[start : start + _STEP]
        found = runner.score(x[start : start + _STEP], labels)
        steps.append(results_of(found, labels))
        rows[start : start + len(labels)] = found.probabilities
    return joined_results(steps, rows)
