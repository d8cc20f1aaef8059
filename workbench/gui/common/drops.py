"""What was dropped on the window, and what that will do, in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal

from workbench.core.format import plural
from workbench.core.params import PathParam
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.core.specs import DatasetSpec
from workbench.datasets import all_datasets
from workbench.datasets.folder import SPEC as FOLDER
from workbench.datasets.folders import SPEC as FOLDERS
from workbench.datasets.npz import SPEC as NPZ
from workbench.pictures.folders import ENDINGS, is_hidden
from workbench.protocol.messages import WEIGHTS_ENDINGS

RESULT_NAME = "workbench_result"
"""How the file begins that a notebook leaves; browsers add " (1)"."""

_LOOKED_AT = 2000  # entries of a folder that are looked at while the mouse moves

_DEEPEST = 5
"""So many folders around the class folders are looked into."""

DropKind = Literal[
    "project",
    "pictures",
    "class_folders",
    "loose_folders",
    "arrays",
    "data_file",
    "weights",
    "result",
    "unknown",
]


@dataclass(frozen=True)
class DataDrop:
    """What a view does with dropped images that have labels, which otherwise become the project's
    data set. A view that does so has a method `data_drop` that returns it, or None while it cannot.

    Attributes:
        words: What a drop will do, by kind: "Drop to " and then these, with the name as {}.
        least_classes: Class folders that it needs.
        take: Called with the kind and the path of what was dropped.
        refusal: Why it does not take them now; "" where it does.
    """

    words: Mapping[DropKind, str]
    least_classes: int
    take: Callable[[DropKind, str], None]
    refusal: str = ""


DATA_SOURCES: dict[DropKind, DatasetSpec] = {"class_folders": FOLDER, "arrays": NPZ}
"""The kinds that views take as a data set of their own, and the source that loads them."""


@dataclass(frozen=True)
class Drop:
    """Dropped paths, sorted out.

    Attributes:
        kind: What they are.
        paths: The paths to use; for a folder of images, its images.
        words: What a drop will do, or why it does nothing.
        source: The data source that loads them; None for what is no data set.
        data: The view that is shown takes it; None for what is done everywhere.
    """

    kind: DropKind
    paths: tuple[str, ...]
    words: str
    source: DatasetSpec | None = None
    data: DataDrop | None = None

    @property
    def is_welcome(self) -> bool:
        """True where dropping does something."""
        return self.kind != "unknown"


def sort_drop(paths: Sequence[str], *, data: DataDrop | None = None) -> Drop:
    """Sorts dropped paths by what they are, by name and kind only: nothing is opened here.

    Args:
        paths: Files and folders.
        data: What the view that is shown does with labeled images.
    """
    if not paths:
        return Drop("unknown", (), "Only files and folders can be dropped here")
    first = Path(paths[0])
    if len(paths) == 1:
        single = _sort_single(first, data.least_classes if data is not None else 2)
        if single is not None:
            return _for_view(single, data)
    if len(paths) > 1 and all(map(os.path.isdir, paths)):
        words = f"Drop to use {len(paths)} folders as the classes of a data set"
        return Drop("loose_folders", tuple(paths), words, FOLDERS)
    pictures = [path for path in paths if _is_picture(path)]
    if pictures:
        rest = len(paths) - len(pictures)
        left_out = f" ({plural(rest, 'other file')} skipped)" if rest else ""
        words = f"Drop to classify {plural(len(pictures), 'image')}{left_out}"
        return Drop("pictures", tuple(pictures), words)
    if any(path.lower().endswith(PROJECT_SUFFIX) for path in paths):
        return Drop("unknown", tuple(paths), "Drop one project at a time")
    return Drop(
        "unknown",
        tuple(paths),
        f"“{first.name}” cannot be used here. Drop pictures, a .workbench project, a folder with "
        "one folder per class, a ZIP, TAR, CSV or .npz file, or a weights file",
    )


def _for_view(drop: Drop, data: DataDrop | None) -> Drop:
    """What the view that is shown does with it."""
    if data is None or drop.kind not in data.words:
        return drop
    if data.refusal:
        return Drop("unknown", drop.paths, data.refusal)
    words = data.words[drop.kind].format(f"“{Path(drop.paths[0]).name}”")
    return replace(drop, words=f"Drop to {words}", data=data)


def _sort_single(path: Path, least_classes: int) -> Drop | None:
    name = path.name.lower()
    if path.is_dir():
        return _sort_folder(path, least_classes)
    if name.endswith(PROJECT_SUFFIX):
        return Drop("project", (str(path),), f"Drop to open the project “{path.name}”")
    if name.endswith(WEIGHTS_ENDINGS):
        return Drop("weights", (str(path),), f"Drop to load weights from “{path.name}”")
    if name.startswith(RESULT_NAME) and name.endswith(".zip"):
        return Drop("result", (str(path),), f"Drop to import the notebook results “{path.name}”")
    source = source_of_file(path.name)
    if source is None:
        return None
    kind: DropKind = "arrays" if source is NPZ else "data_file"
    return Drop(kind, (str(path),), f"Drop to use “{path.name}” as the data set", source)


def source_of_file(name: str) -> DatasetSpec | None:
    """The data source that loads files of such names; None where there is none."""
    sources = _file_sources()
    return next((sources[p] for p in sources if fnmatch(name.lower(), p)), None)


def file_patterns() -> tuple[str, ...]:
    """Patterns of the names of files that are data sets: "*.zip", ..."""
    return tuple(_file_sources())


@cache
def _file_sources() -> Mapping[str, DatasetSpec]:
    """The data sources that are pointed at a file, by the patterns of its name."""
    return {
        pattern: spec
        for spec in all_datasets().values()
        for param in spec.params
        if isinstance(param, PathParam) and param.key == spec.source_param
        for pattern in param.patterns
    }


def _sort_folder(folder: Path, least_classes: int) -> Drop:
    try:
        pictures, classes = _look(folder)
        if pictures and len(classes) < 2:
            return Drop("pictures", pictures, f"Drop to classify {plural(len(pictures), 'image')}")
        wanted = len(classes) >= least_classes or len(_inside(classes)) >= 2
        is_flat = wanted and all(map(_holds_pictures, classes[:2]))
    except OSError as error:
        return Drop("unknown", (str(folder),), f"“{folder.name}” cannot be read: {error.strerror}")
    if wanted:
        words = f"Drop to use “{folder.name}” as the data set"
        words += f": {len(classes)} classes" if is_flat and len(classes) > 1 else ""
        return Drop("class_folders", (str(folder),), words, FOLDER)
    found = "only one class folder" if classes else "no images and no class folders"
    words = (
        f"“{folder.name}” contains {found}. A data set is a folder with one folder per class, at "
        "least two"
    )
    return Drop("unknown", (str(folder),), words)


def _look(folder: Path) -> tuple[tuple[str, ...], list[Path]]:
    """The pictures of a folder by their names, and the folders inside; raises OSError."""
    with os.scandir(folder) as inside:  # has the kind of each entry without a stat call
        entries = list(islice(inside, _LOOKED_AT))
    folders = [Path(entry) for entry in entries if entry.is_dir() and not is_hidden(entry.name)]
    return tuple(sorted(entry.path for entry in entries if _is_picture(entry.name))), folders


def _holds_pictures(folder: Path) -> bool:
    pictures, folders = _look(folder)
    return bool(pictures) or not folders


def _inside(folders: list[Path]) -> list[Path]:
    """The folders below the only one of its kind, as unpacked archives have them."""
    for _ in range(_DEEPEST):
        if len(folders) != 1:
            break
        pictures, folders = _look(folders[0])
        if pictures:
            return []
    return folders


def _is_picture(path: str) -> bool:
    return os.path.splitext(path)[1].lower() in ENDINGS  # noqa: PTH122 - thousands of names
