"""A model with its weights that classifies images, whatever computes it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.calibration.distance import Halves
from workbench.core.calibration.verdict import unknown_reason
from workbench.errors import RunError
from workbench.inference.answers import Answers, answers_of
from workbench.pictures.decode import decode_reduced
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.protocol.trained.calibration import Calibration
from workbench.runs.model_card import ModelCard

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
