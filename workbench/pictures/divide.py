"""The one place where the images of a loaded data set are divided into parts.

A split is decided on the training part of the source, all images and classes of it, before the
user's edits and before it is known what can be read (`SplitBasis`). So no edit moves an image into
another part, but for one that moves this very image.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.core.format import list_text
from workbench.core.projects.data_edits import CONTENT_DIGITS
from workbench.core.specs import FREE, FilePart, LoadContext, LoadedData, SplitBasis
from workbench.core.specs.dataset import SplitMarks, edited_classes
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import (
    TEST,
    TRAIN,
    VALIDATION,
    Parts,
    SplitImages,
    SplitRule,
    divide_by_content,
    divide_by_order,
)
from workbench.pictures.contents import Contents, contents_of
from workbench.pictures.grouping.pattern import found_groups

# groups --------------------------------------------------------------------------------------
# Groups of images that belong together, so that a split must not divide them: by folder or file
# name.

Groups = np.ndarray[Any, np.dtype[np.bytes_]]

_DTYPE = np.dtype(f"S{CONTENT_DIGITS}")
_PREFIX = re.compile(r"(.+)[_-](?:[0-9]+|[A-Za-z])")
"""patient07_3, IMG_1234_a: what is before the last number or letter."""


def groups_of(
    loaded: LoadedData, recipe: TrainingRecipe, classes: Mapping[str, str], ctx: LoadContext
) -> Groups | None:
    """The group of each image of all parts, in the order of `LoadedData.parts`: S32 ids, b"" for
    an image that is in none. None where the recipe has no groups, or the images are in no files.

    Args:
        loaded: As the source gives it.
        recipe: Says what makes a group.
        classes: How classes are renamed or merged (`DataEdits.classes`): folders that are merged
            into one class are groups of it.
        ctx: Can cancel the search for the recipe's pattern.

    Raises:
        DatasetError: the recipe's pattern is no regular expression, or takes too long.
    """
    parts = [part for part in loaded.parts if isinstance(part, FilePart)]
    if recipe.split != "content" or recipe.group_by == "none" or len(parts) < len(loaded.parts):
        return None
    if recipe.group_by == "subfolder":
        numbers = edited_classes(loaded.class_names, classes).numbers
        names = [name for part in parts for name in _folders(part, numbers)]
    else:
        paths = [path for part in parts for path in part.paths]
        stems = [os.path.splitext(os.path.basename(path))[0] for path in paths]  # noqa: PTH119, PTH122
        pattern = recipe.group_pattern
        names = found_groups(pattern, stems, ctx) if pattern else _prefixes(stems)
    return np.array([_id(recipe.group_by, name) for name in names], _DTYPE)


def _id(kind: str, name: str) -> bytes:
    if not name:
        return b""
    text = f"{kind}\0{name}".encode(errors="surrogateescape")
    return hashlib.sha256(text).hexdigest()[:CONTENT_DIGITS].encode()


def _folders(part: FilePart, numbers: Sequence[int]) -> list[str]:
    """The folder of each image inside that of its class; "" for an image right in the latter, and
    for those of a class that are all in one folder: that could not be divided.
    """
    folders = [os.path.dirname(path) for path in part.paths]  # noqa: PTH120 - many of them
    labels = [numbers[label] for label in part.labels.tolist()]
    own: dict[int, set[str]] = {}
    for label, folder in zip(labels, folders, strict=True):
        own.setdefault(label, set()).add(folder)
    names = {}
    for label, inside in own.items():
        top = os.path.commonpath(inside)
        above = os.path.dirname(top)  # noqa: PTH120 - as above
        for folder in inside:
            names[label, folder] = "" if folder == top else os.path.relpath(folder, above)
    return [names[key] for key in zip(labels, folders, strict=True)]


def _prefixes(stems: Sequence[str]) -> list[str]:
    """The beginning of each file name that others share; "" for a name without one."""
    cut = [match[1] if (match := _PREFIX.fullmatch(stem)) else "" for stem in stems]
    beginnings = set(cut)  # IMG_1234 belongs to IMG_1234_a
    pairs = zip(cut, stems, strict=True)
    return [stem if stem in beginnings else prefix for prefix, stem in pairs]


# divide --------------------------------------------------------------------------------------

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


def basis_of(
    loaded: LoadedData, recipe: TrainingRecipe, classes: Mapping[str, str], ctx: LoadContext
) -> SplitBasis:
    """What a split of a source is decided on; contents are not looked at.

    Args:
        loaded: As the source gives it.
        recipe: Says what makes a group.
        classes: How classes are renamed, merged or left out (`DataEdits.classes`). They count only
            where folders are groups: those of merged classes are groups of one class then.
        ctx: For the search for groups.

    Raises:
        DatasetError: the recipe's pattern of groups cannot be used.
    """
    count = len(loaded.train)
    merged = {own: name for own, name in classes.items() if name}
    groups = groups_of(loaded, recipe, merged, ctx)
    names, labels = loaded.class_names, np.asarray(loaded.train.labels, np.int64)
    if groups is not None and recipe.group_by == "subfolder":
        numbers = edited_classes(names, merged).numbers
        own = [
            [name for name, number in zip(names, numbers, strict=True) if number == each]
            for each in range(max(numbers, default=-1) + 1)
        ]
        # Named by the source's classes, so that renaming a class keeps its marks.
        names, labels = tuple(map(" + ".join, own)), np.array(numbers, np.int64)[labels]
    groups = None if groups is None else groups[:count]
    return SplitBasis(names, labels, np.arange(count), groups=groups)


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
    basis = loaded.basis or basis_of(loaded, TrainingRecipe(), {}, ctx)
    rule = SplitRule.of(recipe, has_test=has_test, has_validation=has_validation)
    marks, notes = SplitMarks(), (*_ungrouped(loaded, recipe),)
    if recipe.split == "content":
        contents = contents_of(loaded.train, ctx) if basis.contents is None else basis.contents
        images = SplitImages(basis.labels, basis.class_names, contents, basis.groups)
        of_basis, marks = divide_by_content(images, rule, loaded.marks)
        notes = (*notes, *_undivided(loaded, basis, contents, chosen))
    else:
        of_basis = _by_order(basis, rule)
    parts = _placed(loaded, basis, of_basis)[chosen]
    if recipe.validation != "split" or has_validation:  # a part that there is not
        parts[parts == VALIDATION] = TRAIN
    if has_test:
        parts[parts == TEST] = TRAIN
    return Divided(parts, marks, notes)


def _by_order(basis: SplitBasis, rule: SplitRule) -> Parts:
    shares = (rule.test_share, rule.validation_share)
    return divide_by_order(
        basis.labels, shares=shares, seed=rule.seed, fold=rule.fold, folds=rule.folds
    )


def _placed(loaded: LoadedData, basis: SplitBasis, of_basis: Parts) -> Parts:
    """The part of each image of the training part; what is pinned goes where it is pinned."""
    parts = np.full(len(loaded.train), TRAIN, np.int8)
    is_here = basis.places >= 0
    parts[is_here] = of_basis[basis.places[is_here]]
    return parts if loaded.pins is None else np.where(loaded.pins == FREE, parts, loaded.pins)


def _ungrouped(loaded: LoadedData, recipe: TrainingRecipe) -> Iterator[str]:
    has_groups = loaded.basis is not None and loaded.basis.groups is not None
    if recipe.group_by == "none" or has_groups:
        return
    if not isinstance(loaded.train, FilePart):
        yield "The images are in no files: they are divided without groups."


def _undivided(
    loaded: LoadedData, basis: SplitBasis, contents: Contents, chosen: Numbers
) -> Iterator[str]:
    """Classes whose images are all in one group."""
    if basis.groups is None:
        return
    used = chosen[basis.places[chosen] >= 0]
    places, labels = basis.places[used], np.asarray(loaded.train.labels, np.int64)[used]
    ids = np.where(basis.groups == b"", contents, basis.groups)[places]
    alone = [
        f"“{name}”"
        for label, name in enumerate(loaded.class_names)
        if (labels == label).sum() > 1 and len(np.unique(ids[labels == label])) == 1
    ]
    if alone:
        more = len(alone) - _MOST_LISTED
        listed = [*alone[:_MOST_LISTED], *([f"{more:,} more"] if more > 0 else [])]
        yield (
            f"All images of {list_text(listed)} are one group: none can be held out. Choose "
            "another rule for groups."
        )
