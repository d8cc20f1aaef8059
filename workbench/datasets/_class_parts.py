"""Pictures in class folders as a data set: what folders, archives and downloads share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from workbench.core.class_names import altered, unique
from workbench.core.format import plain_name, plural
from workbench.core.params import ChoiceParam, Params, TextParam
from workbench.core.specs import FilePart, LoadContext, LoadedData, least_classes
from workbench.datasets._look_alikes import class_order, with_look_alikes
from workbench.errors import DatasetError
from workbench.pictures.class_folders.beginning import PART_RULES, Reading
from workbench.pictures.class_folders.levels import LEVELS
from workbench.pictures.class_folders.reading import ClassFolders, class_folders
from workbench.pictures.fits import FITS

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
