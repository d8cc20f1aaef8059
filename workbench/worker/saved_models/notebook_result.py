"""What a notebook leaves: a zip of weights, curve and card, untrusted.

Only the three members of known names are taken, each in the reader's child and up to a
size; what is in them is checked value by value before any of it becomes a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from workbench.core.training.recipe import recipe_from
from workbench.errors import WeightsError
from workbench.worker.foreign.foreign_weights import RESULT_MEMBERS, read_archive_member

RESULT_FORMAT = "workbench-result"
_MAX_CARD_BYTES = 4 << 20
_MAX_HISTORY_BYTES = 64 << 20

_Name = Annotated[str, Meta(min_length=1, max_length=200)]
_Word = Annotated[str, Meta(max_length=40)]
_Count = Annotated[int, Meta(ge=0, le=2**40)]
_Positive = Annotated[int, Meta(ge=1, le=2**31)]
_Seconds = Annotated[float, Meta(ge=0, le=1e9)]

_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class ResultCard(msgspec.Struct, frozen=True, kw_only=True):
    """`card.json`: what was trained, and on what; see `resources/programs/notebook.py`.

    Attributes:
        per_class: For each class how many images have trained, validated and tested; [] in older
            results.
        images: Checksum of the packed images (`PackedImages.digest`); "" of a published data set
            that the notebook has loaded itself, and in older results.
        split: Where their split by content was cut, as `core.split_marks` writes it.
    """

    format: str
    version: int
    class_names: Annotated[list[_Name], Meta(max_length=10_000)]
    recipe: dict[str, Any]
    device: _Word
    replicas: _Positive
    precision: _Word
    batch_size: _Positive
    steps_per_epoch: _Positive
    num_train: _Count
    num_validation: _Count
    num_test: _Count
    seconds: _Seconds
    per_class: Annotated[list[list[_Count]], Meta(max_length=10_000)] = []
    images: Annotated[str, Meta(max_length=64)] = ""
    split: dict[str, Any] = {}
    best_epoch: _Count = 0
    title: Annotated[str, Meta(max_length=200)] = ""
    versions: Annotated[dict[_Word, _Word], Meta(max_length=20)] = {}

    @property
    def counts(self) -> tuple[int, int, int]:
        """Training, validation and test images."""
        return self.num_train, self.num_validation, self.num_test

    @property
    def validates_on_test(self) -> bool:
        """Whether the validation images are those of the test set."""
        return self.recipe.get("validation") == "test" and self.num_validation > 0


class ResultEpoch(msgspec.Struct, frozen=True, kw_only=True):
    """One epoch of `history.json`; None is "not finite" or "not measured"."""

    epoch: _Positive
    step: _Positive
    loss: float | None
    accuracy: float | None
    seconds: _Seconds
    images_per_second: _Seconds
    val_loss: float | None = None
    val_accuracy: float | None = None
    top_k_accuracy: float | None = None
    learning_rate: float | None = None


class ResultTest(msgspec.Struct, frozen=True, kw_only=True):
    """The scores on the test images."""

    loss: float | None
    accuracy: float | None
    count: _Count = 0


class ResultHistory(msgspec.Struct, frozen=True, kw_only=True):
    """`history.json`: each batch's own values, and the epochs."""

    losses: list[float | None]
    accuracies: list[float | None]
    epochs: Annotated[list[ResultEpoch], Meta(max_length=100_000)]
    test: ResultTest | None = None


@dataclass(frozen=True)
class Result:
    """Card and curve of a result file; the weights are read by `read_foreign_weights`."""

    card: ResultCard
    history: ResultHistory


def is_result(path: Path) -> bool:
    """Whether a file is taken for a notebook's result, by its name."""
    return path.suffix.lower() == ".zip"


def read_result(path: Path) -> Result:
    """Card and curve of a file that a notebook has left.

    Raises:
        WeightsError: it is damaged, harmful, or not written by a program of ours.
    """
    _, history_name, card_name = RESULT_MEMBERS
    card = _decode(path, card_name, _MAX_CARD_BYTES, ResultCard)
    if (card.format, card.version) != (RESULT_FORMAT, 1):
        raise WeightsError(
            "This version of Workbench cannot read these results.",
            where=f"{path}: {card_name}",
            received=f"{card.format[:40]}, version {card.version}",
            expected=f"{RESULT_FORMAT}, version 1",
            fix="Import them with the version that exported the notebook.",
        )
    result = Result(card, _decode(path, history_name, _MAX_HISTORY_BYTES, ResultHistory))
    finding = next(_findings(result), "")
    if finding:
        raise WeightsError(
            "The curves in these results are inconsistent. Nothing was changed.",
            where=f"{path}: {history_name}",
            received=finding,
            fix="Import the file as the notebook wrote it.",
        )
    return result


def _decode(path: Path, name: str, max_bytes: int, kind: type[_Struct]) -> _Struct:
    data = read_archive_member(path, name, max_bytes=max_bytes)
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WeightsError(
            "These results cannot be read.",
            where=f"{path}: {name}",
            received=str(error)[:300],
            expected="the file that a Workbench notebook writes",
        ) from error


def _findings(result: Result) -> Iterator[str]:
    """What no program of ours writes."""
    history, steps = result.history, result.card.steps_per_epoch
    yield from _count_findings(result.card)
    if len(history.losses) != len(history.accuracies):
        yield f"{len(history.losses):,} losses and {len(history.accuracies):,} accuracies"
    if len(history.losses) != steps * len(history.epochs):
        yield f"{len(history.losses):,} losses of {len(history.epochs):,} epochs of {steps:,} steps"
    tuning, number = _first_of_fine_tuning(result.card), 0
    for epoch in history.epochs:
        # Early stopping leaves out the last epochs of the head.
        number = tuning if 0 < number < epoch.epoch == tuning else number + 1
        if (epoch.epoch, epoch.step) != (number, number * steps):
            yield f"epoch {epoch.epoch:,} at step {epoch.step:,} where epoch {number:,} belongs"
    if result.card.best_epoch not in {0, *(epoch.epoch for epoch in history.epochs)}:
        yield f"epoch {result.card.best_epoch:,} of {len(history.epochs):,} as the best"


def _count_findings(card: ResultCard) -> Iterator[str]:
    """Counts that contradict each other."""
    if not card.per_class:
        return
    if len(card.per_class) != len(card.class_names):
        yield f"counts of {len(card.per_class):,} of {len(card.class_names):,} classes"
    elif any(len(counts) != len(card.counts) for counts in card.per_class):
        yield "counts of other parts than training, validation and test"
    else:
        sums = tuple(map(sum, zip(*card.per_class, strict=True)))
        if sums != card.counts:
            yield f"{sums} images by class and {card.counts} in all"


def _first_of_fine_tuning(card: ResultCard) -> int:
    """The number of the first epoch of fine-tuning; 0 without any."""
    recipe, errors = recipe_from(card.recipe)
    return recipe.head_epochs + 1 if not errors and recipe.has_fine_tuning else 0
