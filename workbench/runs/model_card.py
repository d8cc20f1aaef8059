"""The model card: all that a run's weights need to classify images on their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from workbench.core.storage.foreign_file import read_foreign
from workbench.core.storage.json_file import DAMAGED, decode_json, refuse_newer, save_json
from workbench.errors import RunFolderError, os_errors_as
from workbench.protocol.events import BestEpoch, TestResult
from workbench.protocol.trained.calibration import Calibration
from workbench.protocol.weights import KeptWeights

CARD_NAME = "model.json"
WEIGHTS_NAME = "weights.npz"
CARD_VERSION = 1
"""Raised where an older program would read a card wrongly. Fields that it may ignore, such as the
calibration, leave it: then it answers as it always has, uncalibrated."""

_MAX_CARD_BYTES = 64 * 1024 * 1024


MAX_DIFFERENCE = 1e-5
"""Between probabilities of ONNX Runtime and TensorFlow for the same image. TensorFlow itself
has several ways to compute a network, which differ by about as much."""


class OnnxCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What ONNX Runtime computes, compared with TensorFlow.

    Attributes:
        num_images: Images compared.
        num_other_labels: Those whose most probable class is another one.
        max_difference: The largest difference of a probability.
    """

    num_images: int
    num_other_labels: int
    max_difference: float

    @property
    def is_passed(self) -> bool:
        """Whether ONNX Runtime classifies in TensorFlow's place."""
        return not self.num_other_labels and self.max_difference <= MAX_DIFFERENCE


class ModelCard(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored beside the weights, as `model.json`.

    Attributes:
        title: Words for people.
        class_names: In the order of the network's outputs.
        input_shape: Shape of the image: [height, width, channels].
        fit: How an image is brought to that shape: crop, stretch or pad.
        value_range: Black and white of images of more than 8 bits, e.g. "0-4095"; "" where each is
            decoded by its own numbers.
        graph: The network as in a project file ("nodes", "edges").
        is_logits: The network's last layer has no softmax: apply it when classifying.
        precision: What it was trained in, "float32" or "bfloat16".
        dataset: {"key", "params"} it was trained on, "edits" of it where there were any.
        dataset_title: Its title in words.
        recipe: The training recipe as plain values.
        versions: Versions of the application and the libraries that trained it.
        epochs_done, kept_epoch: Epochs trained, and the one the weights are of (0: before
            the first was finished).
        best, test: Scores where known.
        kept: Which weights these are; None where they were not trained here, and in older cards.
        calibration: Temperature and thresholds; None in older cards, and for weights that have
            trained on since.
        onnx_check: How ONNX Runtime computes these weights; None where that was not compared.
        checksum: SHA-256 over the weights, see weights_file.array_checksum.
    """

    class_names: list[str]
    input_shape: list[int]
    fit: str
    graph: dict[str, Any]
    is_logits: bool = False
    precision: str = "float32"
    dataset: dict[str, Any] = {}
    dataset_title: str = ""
    recipe: dict[str, Any] = {}
    versions: dict[str, str] = {}
    title: str = ""
    epochs_done: int = 0
    kept_epoch: int = 0
    best: BestEpoch | None = None
    test: TestResult | None = None
    kept: KeptWeights | None = None
    calibration: Calibration | None = None
    onnx_check: OnnxCheck | None = None
    value_range: str = ""
    checksum: str = ""
    format: str = "workbench-model"
    version: int = CARD_VERSION


def weights_of(card: ModelCard) -> KeptWeights | None:
    """Which weights those of a card are; None where they come from elsewhere."""
    if card.kept is not None or not card.kept_epoch:
        return card.kept
    is_best = card.recipe.get("keep") == "best"
    return KeptWeights(
        epoch=card.kept_epoch,
        kind="best" if is_best else "last",
        is_averaged=bool(card.recipe.get("ema_decay")),
        is_chosen_on_test=is_best and card.recipe.get("validation") == "test",
    )


def read_card(folder: Path) -> ModelCard:
    """The card of a run folder; raises RunFolderError where it is missing, damaged or newer."""
    path = folder / CARD_NAME
    with os_errors_as(RunFolderError, "The model card cannot be read.", path):
        try:
            data = read_foreign(path, _MAX_CARD_BYTES)
        except FileNotFoundError as error:
            raise RunFolderError(
                "This run has no trained weights.",
                where=str(path),
                fix="While it trains: wait for the end of its first epoch. Otherwise choose "
                "another run, or train again.",
            ) from error
    return decode_card(data, str(path))


def decode_card(data: bytes, where: str) -> ModelCard:
    """The card in JSON text; raises RunFolderError naming `where`, as `read_card`."""
    try:
        card: ModelCard = decode_json(data, ModelCard)
    except DAMAGED as error:
        raise RunFolderError(
            "The model card is damaged.", where=where, received=str(error)
        ) from error
    what = "The model was saved by a newer version of Workbench."
    refuse_newer(RunFolderError, what, where, card.version, CARD_VERSION)
    if len(card.input_shape) != 3 or min(card.input_shape, default=0) < 1 or not card.class_names:
        raise RunFolderError(
            "The model card does not describe an image classifier.",
            where=where,
            received=f"input {card.input_shape}, {len(card.class_names)} classes",
            expected="a shape (height, width, channels) and class names",
        )
    return card


def write_card(folder: Path, card: ModelCard) -> None:
    """Writes the card into a run folder, whole or not at all; raises SaveError."""
    save_json(folder / CARD_NAME, card)
