"""Several folders, wherever they are: each is a class."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.core.class_names import unique_paths
from workbench.core.params import Params, PathsParam
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData, least_classes
from workbench.datasets._class_parts import FIT, check_classes, from_classes
from workbench.datasets._look_alikes import LOOK_ALIKES
from workbench.datasets._value_range import RANGE
from workbench.errors import DatasetError
from workbench.pictures.class_folders.reading import ClassFolders
from workbench.pictures.class_folders.tree import other_files, other_notes, scan

_EXPECTED = "two or more folders, each with the images of one class"


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    paths = _paths(params)
    ctx.progress("Listing the images")
    names = unique_paths(path.parts for path in paths)
    trees = {names[path.parts]: scan(path, ctx.check_cancelled) for path in paths}
    found = {name: list(tree.all_pictures()) for name, tree in trees.items()}
    notes = [
        f"Folder “{name}” has no images and is ignored."
        for name, files in found.items()
        if not files
    ]
    notes += [f"In “{name}”: {note}" for name, tree in trees.items() for note in other_notes(tree)]
    filled = {name: files for name, files in found.items() if files}
    classes = ClassFolders(
        filled,
        notes=tuple(notes),
        inferences=other_files(*trees.values()),
        num_folders=len(found),
    )
    check_classes(classes, ", ".join(map(str, paths))[:300], least_classes(ctx))
    return from_classes(classes, params)


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


def _classes(params: Params) -> tuple[str, ...]:
    paths = [path for path in _paths(params) if next(scan(path).all_pictures(), None)]
    return tuple(unique_paths(path.parts for path in paths).values())


SPEC = DatasetSpec(
    key="folders",
    title="Several folders",
    summary="Your own images, in folders at any place: each folder is a class, with the folders "
    "inside of it.",
    params=(
        PathsParam(
            "paths",
            (),
            f'The folders of the classes, with "{os.pathsep}" between them.',
            title="Folders",
        ),
        FIT,
        LOOK_ALIKES,
        RANGE,
    ),
    source_param="paths",
    classes=_classes,
    load=_load,
)
