"""What was dropped on the window, and what that will do, in words."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from workbench.core.format import plural
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.pictures.folders import ENDINGS, is_hidden
from workbench.protocol.messages import WEIGHTS_ENDINGS

RESULT_NAME = "workbench_result"
"""How the file begins that a notebook leaves; browsers add " (1)"."""

_LOOKED_AT = 2000  # entries of a folder that are looked at while the mouse moves

DropKind = Literal[
    "project", "pictures", "class_folders", "labeled", "arrays", "weights", "result", "unknown"
]


@dataclass(frozen=True)
class Drop:
    """Dropped paths, sorted out.

    Attributes:
        kind: What they are.
        paths: The paths to use; for a folder of images, its images.
        words: What a drop will do, or why it does nothing.
    """

    kind: DropKind
    paths: tuple[str, ...]
    words: str

    @property
    def is_welcome(self) -> bool:
        """True where dropping does something."""
        return self.kind != "unknown"


def sort_drop(paths: Sequence[str], *, is_classifying: bool = False) -> Drop:
    """Sorts dropped paths by what they are, by name and kind only: nothing is opened here.

    Args:
        paths: Files and folders.
        is_classifying: A folder of class folders is to be classified, its names are the labels;
            otherwise it becomes the data set.
    """
    if not paths:
        return Drop("unknown", (), "Only files and folders can be dropped here")
    first = Path(paths[0])
    if len(paths) == 1:
        single = _sort_single(first)
        if single is not None and single.kind == "class_folders" and is_classifying:
            words = f"Drop to classify the images of “{first.name}” and count the correct ones"
            return Drop("labeled", single.paths, words)
        if single is not None:
            return single
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


def _sort_single(path: Path) -> Drop | None:
    name = path.name.lower()
    if path.is_dir():
        return _sort_folder(path)
    if name.endswith(PROJECT_SUFFIX):
        return Drop("project", (str(path),), f"Drop to open the project “{path.name}”")
    if name.endswith(WEIGHTS_ENDINGS):
        return Drop("weights", (str(path),), f"Drop to load weights from “{path.name}”")
    if name.startswith(RESULT_NAME) and name.endswith(".zip"):
        return Drop("result", (str(path),), f"Drop to import the notebook results “{path.name}”")
    if name.endswith(".npz"):
        return Drop("arrays", (str(path),), f"Drop to use “{path.name}” as the data set")
    return None


def _sort_folder(folder: Path) -> Drop | None:
    try:
        with os.scandir(folder) as found:  # has the kind of each entry without a stat call
            entries = list(islice(found, _LOOKED_AT))
    except OSError as error:
        return Drop("unknown", (str(folder),), f"“{folder.name}” cannot be read: {error.strerror}")
    classes = [entry for entry in entries if entry.is_dir() and not is_hidden(entry.name)]
    if len(classes) >= 2:
        words = f"Drop to use “{folder.name}” as the data set: {len(classes)} classes"
        return Drop("class_folders", (str(folder),), words)
    pictures = tuple(sorted(entry.path for entry in entries if _is_picture(entry.name)))
    if pictures:
        return Drop("pictures", pictures, f"Drop to classify {plural(len(pictures), 'image')}")
    words = (
        f"“{folder.name}” contains no images and no class folders. A data set is a folder with "
        "one folder per class"
    )
    return Drop("unknown", (str(folder),), words)


def _is_picture(path: str) -> bool:
    return os.path.splitext(path)[1].lower() in ENDINGS  # noqa: PTH122 - thousands of names
