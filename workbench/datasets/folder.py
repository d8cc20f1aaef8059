"""A folder with one folder of images per class, with or without a test part of its own."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.core.params import Params, PathParam
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData
from workbench.datasets._class_parts import (
    EXPECTED,
    FIT,
    LOOK_ALIKES,
    RANGE,
    READING,
    from_classes,
    load_class_folders,
    reading_of,
)
from workbench.errors import DatasetError
from workbench.pictures.class_folders.reading import class_folders


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    root = _root(str(params.get("path", "")))
    return load_class_folders(ctx, root, str(root), params)


def _root(text: str) -> Path:
    path = Path(os.path.expanduser(text)) if text else None  # noqa: PTH111 - keeps bad ~ as is
    if path is None:
        raise DatasetError(
            "No folder has been chosen yet.", expected=EXPECTED, fix="Choose an image folder."
        )
    try:
        if path.is_dir():
            return path
        is_there = path.exists()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise DatasetError(
            f"The folder cannot be opened: {error.strerror}.", where=str(path), expected=EXPECTED
        ) from None
    raise DatasetError(
        "This is a file, not a folder." if is_there else "There is no such folder.",
        where=str(path),
        expected=EXPECTED,
        fix="" if is_there else "Check the path, or choose the folder again.",
    )


def _listing(params: Params) -> LoadedData:
    root = _root(str(params.get("path", "")))
    found = class_folders(root, how=reading_of(params))
    return from_classes(found, params)


SPEC = DatasetSpec(
    key="folder",
    title="Image folder",
    summary="Your own images, in one folder per class. Sizes may differ.",
    params=(
        PathParam(
            "path",
            "",
            "Contains one folder of images per class, at any depth, or the folders train and "
            "test (and validation) with such folders.",
            title="Folder",
            is_folder=True,
        ),
        FIT,
        *READING,
        LOOK_ALIKES,
        RANGE,
    ),
    source_param="path",
    listing=_listing,
    load=_load,
)
