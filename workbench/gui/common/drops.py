"""What was dropped on the window, and what that will do, in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from workbench.core.format import plural
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.core.specs import DatasetSpec
from workbench.datasets.folder import SPEC as FOLDER
from workbench.datasets.npz import SPEC as NPZ
from workbench.pictures.folders import ENDINGS, is_hidden
from workbench.protocol.messages import WEIGHTS_ENDINGS

RESULT_NAME = "workbench_result"
"""How the file begins that a notebook leaves; browsers add " (1)"."""

_LOOKED_AT = 2000  # entries of a folder that are looked at while the mouse moves

DropKind = Literal["project", "pictures", "class_folders", "arrays", "weights", "result", "unknown"]


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
"""The kinds that can be a data set, and the source that loads them."""


@dataclass(frozen=True)
class Drop:
    """Dropped paths, sorted out.

    Attributes:
        kind: What they are.
        paths: The paths to use; for a folder of images, its images.
        words: What a drop will do, or why it does nothing.
        data: The view that is shown takes it; None for what is done everywhere.
    """

    kind: DropKind
    paths: tuple[str, ...]
    words: str
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
        "one folder per class, an .npz file or a weights file",
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
    if name.endswith(".npz"):
        return Drop("arrays", (str(path),), f"Drop to use “{path.name}” as the data set")
    return None


def _sort_folder(folder: Path, least_classes: int) -> Drop:
    try:
        with os.scandir(folder) as inside:  # has the kind of each entry without a stat call
            entries = list(islice(inside, _LOOKED_AT))
    except OSError as error:
        return Drop("unknown", (str(folder),), f"“{folder.name}” cannot be read: {error.strerror}")
    classes = [entry for entry in entries if entry.is_dir() and not is_hidden(entry.name)]
    pictures = tuple(sorted(entry.path for entry in entries if _is_picture(entry.name)))
    if pictures and len(classes) < 2:
        return Drop("pictures", pictures, f"Drop to classify {plural(len(pictures), 'image')}")
    if len(classes) >= least_classes:
        words = f"Drop to use “{folder.name}” as the data set: {len(classes)} classes"
        return Drop("class_folders", (str(folder),), words)
    found = "only one class folder" if classes else "no images and no class folders"
    words = (
        f"“{folder.name}” contains {found}. A data set is a folder with one folder per class, at "
        "least two"
    )
    return Drop("unknown", (str(folder),), words)


def _is_picture(path: str) -> bool:
    return os.path.splitext(path)[1].lower() in ENDINGS  # noqa: PTH122 - thousands of names
