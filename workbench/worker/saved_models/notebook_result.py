"""What a notebook leaves: a zip of weights, curve and card, untrusted.

Only the three members of known names are taken, each in the reader's child and up to a
size; what is in them is checked value by value before any of it becomes a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from workbench.core.format import list_text, plural
from workbench.core.projects.project import Project
from workbench.core.specs import LoadContext, Shape
from workbench.core.specs.dataset import edited_classes, read_marks
from workbench.core.training.recipe import recipe_from
from workbench.datasets import all_datasets
from workbench.errors import InputError, WeightsError
from workbench.worker.foreign.foreign_weights import RESULT_MEMBERS, read_archive_member
from workbench.worker.input.packed_images import is_loaded_there, packed_images

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
        split: Where their split by content was cut, as `core.specs.dataset` writes it.
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


# result images -------------------------------------------------------------------------------
# Whether a notebook has trained on the images of a project: classes, parts, labels and pixels.

_NOT_COMPARED = (
    "The images of the project are not at hand: whether the notebook has trained on them was not "
    "checked."
)
_MOST_LISTED = 5


def as_trained(project: Project, result: Result) -> Project:
    """The project with the recipe of the notebook, and its split, where these are valid."""
    recipe, errors = recipe_from(result.card.recipe)
    if errors:
        return project
    marks = read_marks(result.card.split, lambda *_: None)
    edits = replace(project.edits, split=marks) if marks else project.edits
    return replace(project, recipe=recipe, edits=edits)


def refuse_other_images(ctx: LoadContext, project: Project, shape: Shape, result: Result) -> str:
    """Compares what a notebook has trained on with the project's images as they are now.

    Args:
        ctx: To load the images.
        project: From `as_trained`.
        shape: (height, width, channels) of the network's input.
        result: What the notebook has left.

    Returns:
        A sentence where they could not be compared, else "".

    Raises:
        WeightsError: they differ.
    """
    card = result.card
    if is_loaded_there(project, shape):
        _refuse_other_download(project, card)
        return ""
    if not card.images:
        raise _other(
            card,
            "results of packed images",
            "The data were edited since the notebook was written, or it is of an earlier version: "
            "export it again.",
        )
    try:
        images = packed_images(ctx, project, shape)
    except InputError as error:
        return f"{_NOT_COMPARED} {error.what}"
    if images.digest != card.images:
        raise _other(card, _words(images.class_names, images.counts, card))
    return ""


def _refuse_other_download(project: Project, card: ResultCard) -> None:
    """A published data set has so many images; which ones validate is decided by their order."""
    spec = all_datasets()[project.dataset.key]
    names = edited_classes(spec.class_names, project.edits.classes).names
    held_out = 0 if card.validates_on_test else card.num_validation
    published = (spec.num_train, spec.num_test)
    are_all = not spec.num_train or (card.num_train + held_out, card.num_test) == published
    if card.images or list(names) != card.class_names or not are_all:
        raise _other(card, _words(names, (spec.num_train, 0, spec.num_test), card))


def _words(names: Sequence[str], counts: tuple[int, int, int], card: ResultCard) -> str:
    """What the project has, as far as it differs."""
    differing = [f"“{name}”" for name in names if name not in card.class_names]
    if differing:
        more = len(differing) - _MOST_LISTED
        listed = differing[:_MOST_LISTED] + ([f"{more:,} more"] if more > 0 else [])
        return f"{plural(len(names), 'class', 'classes')}, among them {list_text(listed)}"
    if list(names) != card.class_names:
        return f"{plural(len(names), 'class', 'classes')}, in another order or fewer"
    if counts != card.counts:
        return _counted(counts)
    return f"{_counted(counts)}, of which some differ, or have another label or part"


def _counted(counts: tuple[int, int, int]) -> str:
    train, validation, test = counts
    return f"{train:,} training, {validation:,} validation and {test:,} test images"


def _other(card: ResultCard, expected: str, fix: str = "") -> WeightsError:
    parts: dict[str, Any] = {
        "received": f"{plural(len(card.class_names), 'class', 'classes')}, {_counted(card.counts)}",
        "expected": expected,
        "fix": fix
        or "Undo what was changed of the data since the notebook was exported, or export it again.",
    }
    return WeightsError(
        "The notebook has trained on other images than those of this project. Nothing was changed.",
        where="card.json",
        **parts,
    )
