"""Several folders, wherever they are: each is a class, or a part, as if one were around them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from workbench.core.outside_text import unique_paths
from workbench.core.params import Params, PathsParam
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData, least_classes
from workbench.datasets._class_parts import (
    FIT,
    LOOK_ALIKES,
    RANGE,
    READING,
    check_classes,
    from_classes,
    reading_of,
)
from workbench.errors import DatasetError
from workbench.pictures.class_folders.reading import ClassFolders, classes_of
from workbench.pictures.class_folders.tree import Branch, scan

_EXPECTED = "two or more folders, each with the images of one class"


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    paths = _paths(params)
    ctx.progress("Listing the images")
    found = _found(paths, params, ctx.check_cancelled)
    check_classes(found, ", ".join(map(str, paths))[:300], least_classes(ctx))
    return from_classes(found, params)


def _found(
    paths: list[Path], params: Params, check: Callable[[], None] = lambda: None
) -> ClassFolders:
    """The classes of the folders, which are read as if they were in one."""
    names = unique_paths(path.parts for path in paths)
    trees = [replace(scan(path, check), called=names[path.parts]) for path in paths]
    around = Branch(
        paths[0].parent,
        branches=tuple(each for each in trees if each.pictures or each.branches),
        empty=tuple(each for each in trees if not each.pictures and not each.branches),
    )
    return classes_of(around, replace(reading_of(params), is_chosen=len(paths) > 1))


def _paths(params: Params) -> list[Path]:
    """The folders, each once and none inside of another."""
    chosen = [Path(os.path.expanduser(text)) for text in params.get("paths", ())]  # noqa: PTH111 - keeps bad ~ as is
    if not chosen:
        raise DatasetError(
            "No folders have been chosen yet.", expected=_EXPECTED, fix="Choose the folders."
        )
    paths = list(dict.fromkeys(map(_resolved, chosen)))
    for path in paths:
        around = next((other for other in paths if other in path.parents), None)
        if around is not None:
            raise DatasetError(
                "One of the folders is inside of another.",
                where=str(path),
                received=f"{path} and {around}",
                expected=_EXPECTED,
                fix="Leave one of them out, or choose the folder around the classes as one "
                "image folder.",
            )
    return paths


def _resolved(path: Path) -> Path:
    try:
        resolved = path.resolve(strict=True)
        if resolved.is_dir():
            return resolved
        what = "This is a file, not a folder."
    except FileNotFoundError:
        what = "There is no such folder."
    except (OSError, RuntimeError) as error:
        what = f"The folder cannot be opened: {getattr(error, 'strerror', None) or error}."
    raise DatasetError(what, where=str(path), expected=_EXPECTED)


def _listing(params: Params) -> LoadedData:
    return from_classes(_found(_paths(params), params), params)


SPEC = DatasetSpec(
    key="folders",
    title="Several folders",
    summary="Your own images, in folders at any place: each folder is a class, with the folders "
    "inside of it; folders named train, test or validation are parts.",
    params=(
        PathsParam(
            "paths",
            (),
            f'The folders of the classes, with "{os.pathsep}" between them.',
            title="Folders",
        ),
        FIT,
        *READING,
        LOOK_ALIKES,
        RANGE,
    ),
    source_param="paths",
    listing=_listing,
    load=_load,
)
