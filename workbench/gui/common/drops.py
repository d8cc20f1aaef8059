"""What was dropped on the window, and what that will do, in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal

from workbench.core.format import path_text, plural
from workbench.core.params import PathParam, PathsParam
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.core.projects.texts import source_choice
from workbench.core.specs import DatasetSpec
from workbench.core.storage.foreign_file import is_folder
from workbench.datasets import all_datasets
from workbench.datasets.folder import SPEC as FOLDER
from workbench.moving.bundle import BUNDLE_SUFFIX
from workbench.pictures.folders import ENDINGS, is_hidden
from workbench.protocol.weights import WEIGHTS_ENDINGS

RESULT_NAME = "workbench_result"
"""How the file begins that a notebook leaves; browsers add " (1)"."""

_NO_PICTURES = frozenset(
    {
        ".7z", ".aac", ".app", ".avi", ".bat", ".bin", ".bz2", ".c", ".conf", ".cpp", ".css",
        ".csv", ".deb", ".dll", ".dmg", ".doc", ".docx", ".exe", ".flac", ".gz", ".h", ".htm",
        ".html", ".ini", ".ipynb", ".iso", ".jar", ".java", ".js", ".json", ".log", ".m4a",
        ".md", ".mkv", ".mov", ".mp3", ".mp4", ".mpg", ".msi", ".odp", ".ods", ".odt", ".ogg",
        ".pdf", ".pkl", ".ppt", ".pptx", ".py", ".rar", ".rpm", ".rtf", ".sh", ".so", ".sql",
        ".tex", ".toml", ".tsv", ".txt", ".wav", ".webm", ".wmv", ".xls", ".xlsx", ".xml",
        ".xz", ".yaml", ".yml",
    }
)  # fmt: skip
"""Endings of what is no picture. A file with another one, or with none, may be one: its content
decides that, once it is classified."""

_LOOKED_AT = 2000  # entries of a folder that are looked at while the mouse moves
_SAVED_MODEL = "saved_model.pb"
_MOST_AROUND = 4  # folders that may be around the class folders

DropKind = Literal[
    "project",
    "pictures",
    "picture_folder",
    "class_folders",
    "several_folders",
    "data_file",
    "weights",
    "result",
    "web_image",
    "web_address",
    "unknown",
]
DATA_KINDS: tuple[DropKind, ...] = ("class_folders", "several_folders", "data_file")
"""The kinds that can be a data set."""


@dataclass(frozen=True)
class DataDrop:
    """What a view does with dropped images that have labels, which otherwise become the project's
    data set. A view that does so has a method `data_drop` that returns it, or None while it cannot.

    Attributes:
        actions: What a drop will do, by kind: "Drop to " and then these, with the name as {}.
        least_classes: Class folders that it needs.
        take: Called with what was dropped.
        refusal: Why it does not take them now; "" where it does.
    """

    actions: Mapping[DropKind, str]
    least_classes: int
    take: Callable[[Drop], None]
    refusal: str = ""


@dataclass(frozen=True)
class Drop:
    """Dropped paths, sorted out.

    Attributes:
        kind: What they are.
        paths: The paths to use; an address from a web browser.
        words: What a drop will do, or why it does nothing.
        data: The view that is shown takes it; None for what is done everywhere.
        source: The data set that it can be; None for what is none.
    """

    kind: DropKind
    paths: tuple[str, ...]
    words: str
    data: DataDrop | None = None
    source: Choice | None = None

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
    if all(map(os.path.isdir, paths)):
        return _for_view(_several_folders(paths), data)
    pictures = [path for path in paths if _is_picture(path) or _may_be_picture(path)]
    if pictures:
        return _pictures(pictures, len(paths) - len(pictures))
    if any(path.lower().endswith(PROJECT_SUFFIX) for path in paths):
        return Drop("unknown", tuple(paths), "Drop one project at a time")
    return Drop(
        "unknown",
        tuple(paths),
        f"“{first.name}” cannot be used here. Drop pictures, a .workbench project, a folder with "
        "one folder per class, an archive, a table (.csv), an .npz or TFRecord file, or a weights "
        "file",
    )


def _pictures(paths: Sequence[str], num_others: int) -> Drop:
    left_out = f" ({plural(num_others, 'other file')} skipped)" if num_others else ""
    images = plural(len(paths), "image")
    if not any(map(_is_picture, paths)):
        what = f"“{path_text(Path(paths[0]).name)}”" if len(paths) == 1 else f"{len(paths)} files"
        images = f"{what}, if {'it is an image' if len(paths) == 1 else 'they are images'}"
    return Drop("pictures", tuple(paths), f"Drop to classify {images}{left_out}")


def _for_view(drop: Drop, data: DataDrop | None) -> Drop:
    """What the view that is shown does with it."""
    if data is None or drop.kind not in data.actions:
        return drop
    if data.refusal:
        return Drop("unknown", drop.paths, data.refusal)
    more = f" and {len(drop.paths) - 1} more" if len(drop.paths) > 1 else ""
    words = data.actions[drop.kind].format(f"“{Path(drop.paths[0]).name}”{more}")
    return replace(drop, words=f"Drop to {words}", data=data)


def _sort_single(path: Path, least_classes: int) -> Drop | None:
    name = path.name.lower()
    if path.is_dir():
        return _sort_folder(path, least_classes)
    if name.endswith((PROJECT_SUFFIX, BUNDLE_SUFFIX)):
        what = "project" if name.endswith(PROJECT_SUFFIX) else "bundle"
        return Drop("project", (str(path),), f"Drop to open the {what} “{path.name}”")
    if name.endswith(WEIGHTS_ENDINGS):
        return Drop("weights", (str(path),), f"Drop to load weights from “{path.name}”")
    if name.startswith(RESULT_NAME) and name.endswith(".zip"):
        return Drop("result", (str(path),), f"Drop to import the notebook results “{path.name}”")
    spec = file_source(name)
    if spec is None:
        return None
    words = f"Drop to use “{path.name}” as the data set"
    return Drop("data_file", (str(path),), words, source=source_choice(spec, str(path)))


def file_source(name: str) -> DatasetSpec | None:
    """The source that loads a file of this name; None for none."""
    for pattern, spec in _file_sources().items():
        if fnmatchcase(name.lower(), pattern):
            return spec
    return None


def file_patterns() -> tuple[str, ...]:
    """Patterns of the names of files that are data sets: "*.zip", ..."""
    return tuple(_file_sources())


@cache
def _file_sources() -> Mapping[str, DatasetSpec]:
    """The sources that are pointed at a file, by the patterns of its name."""
    return {
        pattern: spec
        for spec in all_datasets().values()
        for param in spec.params
        if isinstance(param, PathParam) and param.key == spec.source_param
        for pattern in param.patterns
    }


def _several_folders(paths: Sequence[str]) -> Drop:
    for spec in all_datasets().values():
        if any(isinstance(p, PathsParam) and p.key == spec.source_param for p in spec.params):
            words = f"Drop to use {len(paths)} folders as the data set, each as a class"
            source = source_choice(spec, tuple(paths))
            return Drop("several_folders", tuple(paths), words, source=source)
    return Drop("unknown", tuple(paths), "Drop one folder at a time")


@dataclass(frozen=True)
class _Inside:
    """What is in a folder, as far as it was looked at."""

    folders: tuple[str, ...]
    pictures: tuple[str, ...]
    others: int
    number: int
    is_all: bool

    @classmethod
    def of(cls, folder: Path, most: int = _LOOKED_AT) -> _Inside:
        """Looks at so many entries of a folder; raises OSError."""
        with os.scandir(folder) as inside:  # has the kind of each entry without a stat call
            entries = list(islice(inside, most + 1))
        shown = [entry for entry in entries[:most] if not is_hidden(entry.name)]
        files = [entry for entry in shown if not is_folder(entry)]
        return cls(
            tuple(entry.path for entry in shown if is_folder(entry)),
            tuple(sorted(entry.path for entry in files if _is_picture(entry.name))),
            sum(_may_be_picture(entry.name) for entry in files),
            len(entries),
            len(entries) <= most,
        )


def _sort_folder(folder: Path, least_classes: int) -> Drop:
    if (folder / _SAVED_MODEL).is_file():
        words = (
            f"“{folder.name}” is a SavedModel of TensorFlow, no data set. Weights are loaded from "
            "a Keras file of the same model (.keras, .h5)"
        )
        return Drop("unknown", (str(folder),), words)
    try:
        inside = _Inside.of(folder)
        if inside.pictures and len(inside.folders) < 2:
            images = plural(len(inside.pictures), "image")
            words = images if inside.is_all else f"all images of “{folder.name}”"
            return Drop("picture_folder", (str(folder),), f"Drop to classify {words}")
        if inside.others and not inside.folders:
            words = f"Drop to classify the images of “{folder.name}”, if there are any"
            return Drop("picture_folder", (str(folder),), words)
        number = _count_classes(inside)
    except OSError as error:
        return Drop("unknown", (str(folder),), f"“{folder.name}” cannot be read: {error.strerror}")
    if number is None or number >= least_classes:
        classes = f": {number} classes" if number else ""
        words = f"Drop to use “{folder.name}” as the data set{classes}"
        source = source_choice(FOLDER, str(folder))
        return Drop("class_folders", (str(folder),), words, source=source)
    found = "only one class folder" if number else "no images and no class folders"
    words = (
        f"“{folder.name}” contains {found}. A data set is a folder with one folder per class, at "
        "least two"
    )
    return Drop("unknown", (str(folder),), words)


def _count_classes(inside: _Inside) -> int | None:
    """How many class folders there are; None where that takes a longer look, at folders in
    folders.
    """
    for _ in range(_MOST_AROUND):
        if not inside.folders:
            return 0
        first = _Inside.of(Path(inside.folders[0]))
        if first.pictures or not first.folders:
            if not first.pictures and not _has_images(inside.folders):
                return 0
            return len(inside.folders) if inside.is_all else None
        if len(inside.folders) > 1:
            return None
        inside = first
    return None


def _has_images(folders: Sequence[str]) -> bool:
    """Whether there is an image, or a folder, in any of the folders; or may be, where they have
    more than is looked at.
    """
    left = _LOOKED_AT
    for folder in folders:
        inside = _Inside.of(Path(folder), left)
        left -= 1 + inside.number
        if inside.pictures or inside.others or inside.folders or left <= 0:
            return True
    return False


def _is_picture(path: str) -> bool:
    return _ending(path) in ENDINGS


def _may_be_picture(path: str) -> bool:
    """Whether a name says nothing of what the file is: "photo", "p.jpg_large", "p.image"."""
    ending = _ending(path)
    is_other = ending in _NO_PICTURES or ending == PROJECT_SUFFIX or ending in WEIGHTS_ENDINGS
    return not is_other and ending not in ENDINGS and file_source(path) is None


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()  # noqa: PTH122 - thousands of names
