"""The one place where the images of a loaded data set are divided into parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workbench.core.format import list_text
from workbench.core.specs import FilePart, LoadContext, LoadedData
from workbench.core.split_marks import SplitMarks
from workbench.core.training.content_split import SplitImages, SplitRule, divide_by_content
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import TEST, TRAIN, VALIDATION, Parts, divide_by_order
from workbench.pictures.contents import contents_of

Numbers = np.ndarray[Any, np.dtype[np.int64]]

_MOST_LISTED = 3


@dataclass(frozen=True)
class Divided:
    """How the images are divided.

    Attributes:
        parts: The part of each image: TRAIN, VALIDATION or TEST.
        marks: Where a split by content was cut; none for another split.
        notes: What is odd about it, in sentences.
    """

    parts: Parts
    marks: SplitMarks = field(default_factory=SplitMarks)
    notes: tuple[str, ...] = ()


def divide(
    loaded: LoadedData,
    recipe: TrainingRecipe,
    ctx: LoadContext,
    *,
    chosen: Numbers,
    has_test: bool,
    has_validation: bool,
) -> Divided:
    """The parts of some images of the training part, by the recipe's split.

    Args:
        loaded: The data set.
        recipe: Its split, shares and seeds count.
        ctx: For ids of the images by content, where they are needed.
        chosen: Which images: those that can be read.
        has_test: The source has test images of its own: none are split off.
        has_validation: The same for validation.
    """
    contents = np.zeros(0, "S32")
    if recipe.split == "content":
        known = loaded.contents
        contents = (contents_of(loaded.train, ctx) if known is None else known)[chosen]
    images = SplitImages(
        labels=np.asarray(loaded.train.labels, np.int64)[chosen],
        class_names=loaded.class_names,
        contents=contents,
        groups=None if loaded.groups is None else loaded.groups[chosen],
        pins=None if loaded.pins is None else loaded.pins[chosen],
    )
    divided = divide_images(
        images, recipe, loaded.marks, has_test=has_test, has_validation=has_validation
    )
    return replace(divided, notes=(*_ungrouped(loaded, recipe), *divided.notes))


def divide_images(
    images: SplitImages,
    recipe: TrainingRecipe,
    remembered: SplitMarks,
    *,
    has_test: bool,
    has_validation: bool,
) -> Divided:
    """As `divide`, of images whose contents are known, where the split needs them."""
    rule = SplitRule.of(recipe, has_test=has_test, has_validation=has_validation)
    marks = SplitMarks()
    notes: tuple[str, ...] = ()
    if recipe.split == "content":
        parts, marks = divide_by_content(images, rule, remembered)
        notes = tuple(_undivided(images))
    else:
        parts = divide_by_order(
            images.labels,
            pins=images.pins,
            shares=(rule.test_share, rule.validation_share),
            seed=rule.seed,
            fold=rule.fold,
            folds=rule.folds,
        )
    if recipe.validation != "split" or has_validation:  # a part that there is not
        parts[parts == VALIDATION] = TRAIN
    if has_test:
        parts[parts == TEST] = TRAIN
    return Divided(parts, marks, notes)


def _ungrouped(loaded: LoadedData, recipe: TrainingRecipe) -> Iterator[str]:
    if recipe.group_by == "none" or loaded.groups is not None:
        return
    if not isinstance(loaded.train, FilePart):
        yield "The images are in no files: they are divided without groups."


def _undivided(images: SplitImages) -> Iterator[str]:
    """Classes whose images are all in one group."""
    if images.groups is None:
        return
    ids = np.where(images.groups == b"", images.contents, images.groups)
    alone = [
        f"“{name}”"
        for label, name in enumerate(images.class_names)
        if (images.labels == label).sum() > 1 and len(np.unique(ids[images.labels == label])) == 1
    ]
    if alone:
        more = len(alone) - _MOST_LISTED
        listed = [*alone[:_MOST_LISTED], *([f"{more:,} more"] if more > 0 else [])]
        yield (
            f"All images of {list_text(listed)} are one group: none can be held out. Choose "
            "another rule for groups."
        )
