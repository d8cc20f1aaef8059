"""Groups of images that belong together, so that a split must not divide them: by folder or file
name.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.core.projects.data_edits import CONTENT_DIGITS
from workbench.core.specs import FilePart, LoadContext, LoadedData
from workbench.core.specs.edited_classes import edited_classes
from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.grouping.pattern import found_groups

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
