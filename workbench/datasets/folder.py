"""A folder with one folder of images per class, with or without a test part of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.core.params import ChoiceParam, Params, PathParam
from workbench.core.specs import DatasetSpec, FilePart, LoadContext, LoadedData
from workbench.datasets._label_values import plain_name
from workbench.errors import DatasetError
from workbench.pictures.fits import FITS
from workbench.pictures.folders import list_folders, list_pictures

_TRAIN_NAMES = frozenset({"train", "training"})
_TEST_NAMES = ("test", "testing", "val", "valid", "validation")
"""Names of a folder that holds the test part, the best first."""

_EXPECTED = "one folder per class with its images (or train and test folders of such folders)"


@dataclass(frozen=True)
class _Layout:
    """Where the classes are: their folders by name, for both parts."""

    train: dict[str, Path]
    test: dict[str, Path]
    notes: tuple[str, ...] = ()


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    root = _root(str(params.get("path", "")))
    layout = _layout(root)
    ctx.progress("Listing the images")
    train = {name: _list(folder, ctx) for name, folder in layout.train.items()}
    test = {name: _list(folder, ctx) for name, folder in layout.test.items()}
    notes = [*layout.notes]
    empty = [name for name in train if not train[name]]
    notes += [f"Folder “{name}” has no images and is ignored." for name in empty]
    names = tuple(name for name in train if train[name])
    _check_classes(root, names, train)
    notes += [f"Class “{name}” has only one image." for name in names if len(train[name]) == 1]
    notes += [
        f"Test folder “{name}” matches no training class and is ignored."
        for name in test
        if name not in names and test[name]
    ]
    return LoadedData(
        class_names=tuple(plain_name(name) for name in names),
        train=_part(names, train),
        test=_part(names, test) if any(test.get(name) for name in names) else None,
        notes=tuple(notes),
    )


def _root(text: str) -> Path:
    path = Path(os.path.expanduser(text)) if text else None  # noqa: PTH111 - keeps bad ~ as is
    if path is None:
        raise DatasetError(
            "No folder has been chosen yet.", expected=_EXPECTED, fix="Choose an image folder."
        )
    try:
        if path.is_dir():
            return path
        is_there = path.exists()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise DatasetError(
            f"The folder cannot be opened: {error.strerror}.", where=str(path), expected=_EXPECTED
        ) from None
    raise DatasetError(
        "This is a file, not a folder." if is_there else "There is no such folder.",
        where=str(path),
        expected=_EXPECTED,
        fix="" if is_there else "Check the path, or choose the folder again.",
    )


def _classes(params: Params) -> tuple[str, ...]:
    folders = _layout(_root(str(params.get("path", "")))).train
    return tuple(plain_name(name) for name, folder in folders.items() if _holds_pictures(folder))


def _holds_pictures(folder: Path) -> bool:
    return bool(list_pictures(folder, is_deep=True))


def _layout(root: Path) -> _Layout:
    folders = _folders(root)
    by_name = {folder.name.casefold(): folder for folder in folders}
    train = next((by_name[name] for name in by_name if name in _TRAIN_NAMES), None)
    tests = [by_name[name] for name in _TEST_NAMES if name in by_name]
    is_split = train is not None and bool(_folders(train)) and (tests or len(folders) == 1)
    if train is None or not is_split:  # "train" may well be a class, beside cars and planes
        return _Layout({folder.name: folder for folder in folders}, {})
    notes = tuple(
        f"Folder “{folder.name}” is not used."
        for folder in folders
        if folder not in (train, *tests[:1])
    )
    test = {folder.name: folder for folder in _folders(tests[0])} if tests else {}
    return _Layout({folder.name: folder for folder in _folders(train)}, test, notes)


def _folders(folder: Path) -> list[Path]:
    try:
        return list_folders(folder)
    except OSError as error:
        raise DatasetError(
            f"The folder cannot be listed: {error.strerror}.",
            where=str(folder),
            fix="Check its permissions.",
        ) from None


def _list(folder: Path, ctx: LoadContext) -> list[str]:
    ctx.check_cancelled()
    return [str(path) for path in list_pictures(folder, is_deep=True)]


def _check_classes(root: Path, names: tuple[str, ...], found: dict[str, list[str]]) -> None:
    if len(names) >= 2:
        return
    if names:
        raise DatasetError(
            f'There is only one class, "{names[0]}". A classifier needs at least two.',
            where=str(root),
            received=f"{len(found[names[0]]):,} images of one class",
            expected=_EXPECTED,
            fix="Add a folder with images of another class.",
        )
    loose = len(list_pictures(root))
    received = f"{len(found)} folders without images" if found else "no folders"
    if loose:
        received += f", and {loose:,} images outside class folders"
    raise DatasetError(
        "The folder contains no class folders.",
        where=str(root),
        received=received,
        expected=_EXPECTED,
        fix="Sort the images into one folder per class.",
    )


def _part(names: tuple[str, ...], files: dict[str, list[str]]) -> FilePart:
    lists = [files.get(name, []) for name in names]
    labels = np.repeat(np.arange(len(names), dtype=np.int64), [len(paths) for paths in lists])
    return FilePart(tuple(path for paths in lists for path in paths), labels)


SPEC = DatasetSpec(
    key="folder",
    title="Image folder",
    summary="Your own images, in one folder per class. Sizes may differ.",
    params=(
        PathParam(
            "path",
            "",
            "Contains one folder of images per class, or the folders train and test with "
            "such folders.",
            title="Folder",
            is_folder=True,
        ),
        ChoiceParam(
            "fit",
            "crop",
            "How images with other proportions are resized: "
            + "; ".join(f"{fit}: {words}" for fit, words in FITS.items())
            + ".",
            choices=tuple(FITS),
            titles={"crop": "crop", "stretch": "stretch", "pad": "pad with black"},
        ),
    ),
    source_param="path",
    classes=_classes,
    load=_load,
)
