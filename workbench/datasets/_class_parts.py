"""Pictures in class folders as a data set: what folders, archives and downloads share."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.format import plain_name, plural
from workbench.core.outside_text import altered, look_alikes, unique
from workbench.core.params import ChoiceParam, Params, TextParam
from workbench.core.specs import (
    ArrayPart,
    FilePart,
    Inference,
    LoadContext,
    LoadedData,
    Option,
    Part,
    least_classes,
)
from workbench.errors import DatasetError
from workbench.pictures.class_folders.beginning import PART_RULES, Reading
from workbench.pictures.class_folders.levels import LEVELS
from workbench.pictures.class_folders.reading import ClassFolders, class_folders
from workbench.pictures.fits import FITS
from workbench.pictures.folders import natural_key
from workbench.pictures.portable.ranges import AUTO

# look alikes ---------------------------------------------------------------------------------
# Class names that may mislead: those that differ in case or spaces only, and their order.

LOOK_ALIKES = ChoiceParam(
    "look_alikes",
    "keep",
    "Classes whose names differ in case, spaces, invisible marks or the mark of a copy only.",
    title="Classes of nearly one name",
    choices=("keep", "merge"),
    titles={"keep": "separate", "merge": "one class"},
    is_advanced=True,
)
"""The parameter of sources that have the names of classes from elsewhere."""

_NAMED = 3
_ORDERED = 4


def with_look_alikes(loaded: LoadedData, names: Sequence[str], params: Params) -> LoadedData:
    """A data set with what was inferred of classes whose names look alike: they stay separate, or
    are one where the parameter says so.

    Args:
        loaded: The data set.
        names: Its classes, as its source names them.
        params: Its parameters.
    """
    groups = look_alikes(names) or _same_numbers(names)
    if not groups:
        return loaded
    is_merged = params.get(LOOK_ALIKES.key) == "merge"
    inferences = (*loaded.inferences, _inference(groups, is_merged=is_merged))
    loaded = replace(loaded, inferences=inferences)
    return _merged(loaded, names, groups) if is_merged else loaded


def _same_numbers(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of names that are the same number in several forms: 1, 01 and 1.0; none where some
    names are no numbers.
    """
    if not all(map(_NUMBER.fullmatch, names)):
        return ()
    groups: dict[Decimal, list[str]] = defaultdict(list)
    for name in names:
        groups[Decimal(name)].append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{0,30})?")


def _inference(groups: Sequence[Sequence[str]], *, is_merged: bool) -> Inference:
    pairs = [" and ".join(f"“{plain_name(name)}”" for name in group) for group in groups[:_NAMED]]
    more = f" and {len(groups) - _NAMED} more" if len(groups) > _NAMED else ""
    words = "; ".join(pairs) + more
    other = "keep" if is_merged else "merge"
    return Inference(
        "look_alikes",
        "Classes of nearly one name",
        LOOK_ALIKES.show("merge" if is_merged else "keep"),
        f"{words} differ in case, spaces, invisible marks, “copy” or the form of a number only",
        "They may be one class, written in two ways.",
        param=LOOK_ALIKES.key,
        options=(Option(other, LOOK_ALIKES.show(other)),),
        is_told=is_merged,
    )


def _merged(
    loaded: LoadedData, names: Sequence[str], groups: Sequence[Sequence[str]]
) -> LoadedData:
    """Each group as one class, with the name and the place of its first one."""
    first = {name: group[0] for group in groups for name in group}
    kept = list(dict.fromkeys(first.get(name, name) for name in names))
    numbers = np.array([kept.index(first.get(name, name)) for name in names], np.int64)
    shown = dict(zip(names, loaded.class_names, strict=True))

    return replace(
        loaded,
        class_names=tuple(shown[name] for name in kept),
        train=_relabeled(loaded.train, numbers),
        test=_relabeled(loaded.test, numbers) if loaded.test is not None else None,
        validation=_relabeled(loaded.validation, numbers)
        if loaded.validation is not None
        else None,
    )


def _relabeled(part: Part, numbers: np.ndarray[Any, np.dtype[np.int64]]) -> Part:
    """A part with other numbers of classes; files are in the order of the classes."""
    labels = numbers[part.labels]
    if isinstance(part, ArrayPart):
        return ArrayPart(part.pictures, labels)
    order = np.argsort(labels, kind="stable")
    return FilePart(tuple(part.paths[place] for place in order), labels[order])


def class_order(names: Sequence[str]) -> tuple[Inference, ...]:
    """The order of classes, where other programs have another one: none where all have the same."""
    by_code = sorted(names)
    if list(names) == by_code:
        return ()
    shown = ", ".join(plain_name(name) for name in names[:_ORDERED])
    other = ", ".join(plain_name(name) for name in by_code[:_ORDERED])
    order = Inference(
        "class_order",
        "The order of the classes",
        f"{shown}, …" if len(names) > _ORDERED else shown,
        f"{_order_words(names)}; Keras and scikit-learn sort by the codes of letters: "
        f"{other}{', …' if len(names) > _ORDERED else ''}",
    )
    return (order,)


def _order_words(names: Sequence[str]) -> str:
    """Words for the order of the classes."""
    if list(names) == sorted(names, key=natural_key):
        return "numbers by their value, without regard to case"
    return "as their folders or the source have it"


# value range ---------------------------------------------------------------------------------
# The parameter of all sources that says which number of an image is black and which is white.

_NUMBER_VALUE_RANGE = r"-?\d+(\.\d+)?(e[+-]?\d+)?"
_PATTERN = f"auto|each|min-max|{_NUMBER_VALUE_RANGE}-{_NUMBER_VALUE_RANGE}"
_ALLOWED = "auto, each, or the numbers of black and white such as 0-255, 0-4095 or -1-1"

RANGE = TextParam(
    "range",
    AUTO,
    "Which number is black and which is white, for images of more than 8 bits: auto finds it for "
    "all images together; each stretches every image for itself; 0-4095 is black and white.",
    title="Value range",
    pattern=_PATTERN,
    allowed=_ALLOWED,
    is_advanced=True,
)
"""For images in files."""

ARRAY_RANGE = TextParam(
    "range",
    AUTO,
    "Which number is black and which is white: auto finds it for each array; min-max takes its "
    "least and its greatest; each stretches every image for itself; 0-255 is black and white.",
    title="Value range",
    pattern=_PATTERN,
    allowed=f"{_ALLOWED}; or min-max",
    is_advanced=True,
)
"""For images in arrays."""


# class parts ---------------------------------------------------------------------------------

EXPECTED = "one folder per class with its images (or train and test folders of such folders)"

FIT = ChoiceParam(
    "fit",
    "crop",
    "How images with other proportions are resized: "
    + "; ".join(f"{fit}: {words}" for fit, words in FITS.items())
    + ".",
    choices=tuple(FITS),
    titles={"crop": "crop", "stretch": "stretch", "pad": "pad with black"},
)
"""The parameter of all sources whose images differ in size."""


READING = (
    ChoiceParam(
        "parts",
        "auto",
        "What folders named train, test or validation are, in any spelling.",
        choices=tuple(PART_RULES),
        titles=PART_RULES,
        is_advanced=True,
    ),
    ChoiceParam(
        "classes",
        "auto",
        "Which folders are the classes.",
        choices=tuple(LEVELS),
        titles=LEVELS,
        is_advanced=True,
    ),
    TextParam(
        "inside",
        "",
        "The only folder inside that is read, such as images/color; empty: all of it.",
        title="Folder inside",
        is_advanced=True,
    ),
    ChoiceParam(
        "aside",
        "auto",
        "Folders of masks, annotations, thumbnails or augmented copies that are beside images.",
        title="Masks and thumbnails",
        choices=("auto", "use"),
        titles={"auto": "not used", "use": "images like the others"},
        is_advanced=True,
    ),
)
"""The parameters of sources of class folders: how the folders are read."""


def reading_of(params: Params) -> Reading:
    """How class folders are read, by the parameters of a data set."""
    return Reading(
        parts=params.get("parts", "auto"),
        classes=params.get("classes", "auto"),
        inside=str(params.get("inside", "")),
        has_aside=params.get("aside", "auto") == "use",
    )


def load_class_folders(ctx: LoadContext, root: Path, where: str, params: Params) -> LoadedData:
    """The classes below a folder.

    Args:
        ctx: Progress is reported to it.
        root: The folder.
        where: How messages name it.
        params: Those of the data set.

    Raises:
        DatasetError: fewer than two classes, or a folder that cannot be listed.
    """
    ctx.progress("Listing the images")
    found = class_folders(root, ctx.check_cancelled, reading_of(params))
    check_classes(found, where, least_classes(ctx))
    return from_classes(found, params)


def from_classes(found: ClassFolders, params: Params) -> LoadedData:
    """Listed classes as a data set."""
    names = tuple(found.train)
    loaded = LoadedData(
        class_names=unique(names),
        train=_file_part(names, found.train),
        test=_file_part(names, found.test) if any(found.test.values()) else None,
        validation=_file_part(names, found.validation) if any(found.validation.values()) else None,
        notes=(*found.notes, *_lonely(found.train), *altered(names)),
        inferences=(*found.inferences, *class_order(names)),
    )
    return with_look_alikes(loaded, names, params)


def _lonely(files: Mapping[str, Sequence[str]]) -> list[str]:
    """A note on each class that has one image."""
    names = ((plain_name(name), each) for name, each in files.items())
    return [f"Class “{name}” has only one image file." for name, each in names if len(each) == 1]


def _file_part(names: Sequence[str], files: Mapping[str, Sequence[str]]) -> FilePart:
    """The files of each class, in the order of the classes."""
    lists = [files.get(name, ()) for name in names]
    labels = np.repeat(np.arange(len(names), dtype=np.int64), [len(paths) for paths in lists])
    return FilePart(tuple(path for paths in lists for path in paths), labels)


def check_classes(found: ClassFolders, where: str, least: int = 2) -> None:
    """Raises DatasetError where there are fewer classes, with what is there instead."""
    if len(found.train) >= least:
        return
    loose = f"{found.num_loose:,} images outside class folders" if found.num_loose else ""
    aside = [each.sentence for each in found.inferences if each.param == "aside"]
    hints = [*aside, "To use them: aside=use."] if aside else []
    hint = " ".join(filter(None, [found.hint, *hints]))
    for name, files in found.train.items():
        raise DatasetError(
            f'There is only one class, "{plain_name(name)}". A classifier needs at least two.',
            where=where,
            received=f"{len(files):,} images of one class"
            + (
                f", and {found.num_loose:,} images outside class folders" if found.num_loose else ""
            ),
            expected=EXPECTED,
            fix=f"Add a folder with images of another class. {hint}".strip(),
        )
    received = f"{found.num_folders} folders without images" if found.num_folders else "no folders"
    if found.num_inside:
        received = f"{plural(found.num_folders, 'folder')} with {plural(found.num_inside, 'image')}"
    received += f", and {loose}" if loose else ""
    raise DatasetError(
        "The folder contains no class folders.",
        where=where,
        received=received,
        expected=EXPECTED,
        fix=f"Sort the images into one folder per class. {hint}".strip(),
    )
