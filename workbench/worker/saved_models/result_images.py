"""Whether a notebook has trained on the images of a project: classes, parts, labels and pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench.core.format import list_text, plural
from workbench.core.projects.project import Project
from workbench.core.specs import LoadContext, Shape
from workbench.core.specs.edited_classes import edited_classes
from workbench.core.split_marks import read_marks
from workbench.core.training.recipe import recipe_from
from workbench.datasets import all_datasets
from workbench.errors import InputError, WeightsError
from workbench.worker.input.packed_images import is_loaded_there, packed_images
from workbench.worker.saved_models.notebook_result import Result, ResultCard

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
