"""What loading a saved model begins with, whatever computes it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

import msgspec

from workbench.core.calibration.distance import Halves
from workbench.core.specs import Shape
from workbench.errors import WeightsError
from workbench.processes.memory import available_memory
from workbench.runs.model_card import ModelCard

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
