"""The images of a request, one after the other: nothing is held in memory but a folder's names."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.core.class_names import KnownNames
from workbench.core.format import plain_name
from workbench.errors import DatasetError
from workbench.pictures.folders import each_picture
from workbench.pictures.listed.given import table_and_settings
from workbench.pictures.listed.labels import ListedLabels
from workbench.protocol.classify_many import ClassifyMany, ImageSource


@dataclass(frozen=True)
class Listed:
    """An image to classify.

    Attributes:
        path: Its file, or its web address.
        name: What it is called in the table and on screen.
        truth: Its true class, "" where that is not known.
        error: Why it cannot be read, where that is known already.
        is_address: It is at a web address.
    """

    path: str
    name: str
    truth: str = ""
    error: DatasetError | None = None
    is_address: bool = False


def each_image(
    request: ClassifyMany, class_names: Collection[str], labels: ListedLabels | None = None
) -> Iterator[Listed]:
    """All images of a request, in order; a folder that cannot be listed is one with an error.
    `labels` go before the names of class folders.

    Raises:
        DatasetError: one of the sources is missing or cannot be listed.
    """
    known = KnownNames(class_names) if request.has_class_folders else None
    for source in request.sources:
        if not source.is_address and Path(source.path).is_dir():
            images = _of_folder(source.path, known)
        else:
            images = iter([_of_file(source)])
        for image in images:
            listed = labels.of(image.path) if labels is not None else ""
            yield replace(image, truth=plain_name(listed)) if listed else image


def listed_labels(request: ClassifyMany, class_names: Collection[str]) -> ListedLabels | None:
    """The true classes that a table has; None without one. Raises DatasetError, ParamError."""
    if not request.truth:
        return None
    folders = [source.path for source in request.sources if Path(source.path).is_dir()]
    path, given = table_and_settings(request.truth)
    return ListedLabels(path, folders, given, class_names)


def _of_file(source: ImageSource) -> Listed:
    name = source.name or source.path
    return Listed(source.path, name, source.label, is_address=source.is_address)


def _of_folder(folder: str, known: KnownNames | None) -> Iterator[Listed]:
    unlisted: list[DatasetError] = []
    for path in each_picture(folder, is_deep=True, on_unlisted=unlisted.append):
        yield from _named(unlisted)
        truth = class_of_path(os.path.relpath(path, folder), known) if known is not None else ""
        yield Listed(path, path, truth)
    yield from _named(unlisted)


def _named(unlisted: list[DatasetError]) -> Iterator[Listed]:
    """The folders that could not be listed since the last image."""
    while unlisted:
        error = unlisted.pop(0)
        yield Listed(error.where, error.where, error=error)


def class_of_path(path: str, known: KnownNames) -> str:
    """The class by the folders that an image is in: the innermost one that is named like a class
    of the model, else the outermost one; "" for an image in no folder.

    Args:
        path: Relative to the folder that is classified.
        known: The classes of the model.
    """
    # As the classes of a data set are named after its folders.
    folders = [plain_name(each) for each in Path(path).parts[:-1]]
    named = (each for each in reversed(folders) if known.find(each))
    return next(named, folders[0] if folders else "")


def count_images(request: ClassifyMany) -> int:
    """How many images there are, as far as that can be said."""
    return sum(1 for _ in each_image(request, ()))
