"""Slices of the images of an evaluation: what can be sliced by, and the names of slices."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from workbench.core.evaluation.slices import Marks, Slice, in_groups, in_ranges, worst_first
from workbench.protocol.trained.evaluate import SliceBy
from workbench.runs.store.image_scores import ScoredImages

SLICE_TITLES: dict[SliceBy, str] = {
    "size": "Image size",
    "brightness": "Brightness (0–255)",
    "folder": "Folder",
    "tag": "Tag",
    "actual": "Actual class",
    "predicted": "Predicted class",
}
"""What images can be sliced by, in the order in which it is offered."""

NO_TAG = "(no tag)"
_FEW_SIZES = 5  # these are shown one by one
_DIGITS = (2, 3, 4, 6, 10)
_UNKNOWN_SIZE = "(unknown)"
_NOT_KEPT = "This evaluation is of an earlier version, which did not measure it. Evaluate again."
_NO_FILES = "The images of this data set are in no files of their own."
_NO_TAGS = "No image has a tag yet. In Evaluate, select images and give them one."

_Numbers = np.ndarray[Any, np.dtype[np.int64]]


def why_not(images: ScoredImages, by: SliceBy, tags: Mapping[str, str]) -> str:
    """Why these images cannot be sliced by something, in a sentence; "" where they can."""
    if by == "folder":
        return "" if len(images.lengths) else _NO_FILES
    if by == "tag":
        return "" if tags else _NO_TAGS
    is_kept = {"size": len(images.sizes), "brightness": len(images.brightness)}.get(by, 1)
    return "" if is_kept or not len(images) else _NOT_KEPT


def slices_of(
    images: ScoredImages, by: SliceBy, classes: Sequence[str], tags: Mapping[str, str]
) -> list[Slice]:
    """The slices: those of a value from the lowest on, others worst first. None where `why_not` has
    a reason. A tenth of a second for 100,000 images in files: not for the window's thread.

    Args:
        images: All images of the evaluation.
        by: What the images of a slice have in common.
        classes: Names of the model's classes.
        tags: Content -> tag, as the data set's edits have it.
    """
    if why_not(images, by, tags):
        return []
    is_right = images.is_right
    if by == "brightness":
        return in_ranges(np.rint(images.brightness), is_right, _brightness)
    if by == "size":
        return _by_size(images)
    if by in ("actual", "predicted"):
        found = in_groups(getattr(images, by), is_right, classes)
    else:
        names = _folders(images) if by == "folder" else _tags(images, tags)
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        groups = np.array([numbers[name] for name in names], np.int64)
        found = in_groups(groups, is_right, [_shown(name) for name in numbers])
    return worst_first(found)


def _brightness(least: float, greatest: float) -> str:
    return f"{least:.0f}" if least == greatest else f"{least:.0f}–{greatest:.0f}"


def _by_size(images: ScoredImages) -> list[Slice]:
    """By width and height where there are few, else in ranges of megapixels; smallest first."""
    sizes = images.sizes.astype(np.int64)
    areas, is_right = sizes[:, 0] * sizes[:, 1], images.is_right
    known, rest = np.flatnonzero(areas), np.flatnonzero(areas == 0)
    sides, which = np.unique(sizes[known], axis=0, return_inverse=True)
    if len(sides) <= _FEW_SIZES:
        order = np.argsort(sides.prod(axis=1), kind="stable")
        names = [_sides(*sides[at]) for at in order.tolist()]
        found = in_groups(np.argsort(order)[which.ravel()], is_right[known], names)
    else:
        found = _in_megapixels(areas[known], is_right[known])
    found = [Slice(each.name, known[each.numbers], each.right) for each in found]
    if len(rest):
        found.append(Slice(_UNKNOWN_SIZE, rest, int(is_right[rest].sum())))
    return found


def _sides(width: int, height: int) -> str:
    return f"{width:,} × {height:,} px"


def _in_megapixels(areas: _Numbers, is_right: Marks) -> list[Slice]:
    """With as many digits as it takes to tell one range from another."""
    found: list[Slice] = []
    for digits in _DIGITS:
        found = in_ranges(areas, is_right, partial(_megapixels, digits))
        if len({each.name for each in found}) == len(found):
            break
    return found


def _megapixels(digits: int, least: float, greatest: float) -> str:
    first, last = (f"{pixels / 1e6:.{digits}g}" for pixels in (least, greatest))
    return f"{first} MP" if first == last else f"{first}–{last} MP"


def _folders(images: ScoredImages) -> list[str]:
    """The folder of each file, from where the folders part."""
    folders = [os.path.dirname(images.file(number)) for number in range(len(images))]  # noqa: PTH120 - many
    distinct = {*folders}
    if len(distinct) < 2:
        return [os.path.basename(folder) or folder for folder in folders]  # noqa: PTH119 - many
    try:
        common = os.path.commonpath(distinct)
    except ValueError:  # of several drives
        return folders
    short = {folder: os.path.relpath(folder, common) for folder in distinct}
    return [short[folder] for folder in folders]


def _shown(name: str) -> str:
    """A name of a file system, which may have any character."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in name)


def _tags(images: ScoredImages, tags: Mapping[str, str]) -> list[str]:
    return [tags.get(images.content_of(number), NO_TAG) for number in range(len(images))]
