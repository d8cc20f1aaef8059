"""Listing of the pictures in a folder, in the order people expect."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.core.storage.foreign_file import is_file, is_folder, open_foreign
from workbench.errors import DatasetError
from workbench.pictures.portable.signatures import DECODED, HEAD_BYTES, sniff

ENDINGS: frozenset[str] = frozenset(
    {
        ".apng", ".avif", ".bmp", ".dib", ".gif", ".heic", ".heif", ".ico", ".j2k", ".jfif",
        ".jp2", ".jpe", ".jpeg", ".jpg", ".jxl", ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".psd",
        ".qoi", ".svg", ".tga", ".tif", ".tiff", ".webp",
    }
)  # fmt: skip
"""Names that promise a picture: such a file is listed, and rejected with a reason if it is none."""

_SYSTEM = frozenset(
    {
        "thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "__macosx", "@eadir", "lost+found",
        "$recycle.bin", "system volume information", "__pycache__",
    }
)  # fmt: skip
"""Files and folders of systems and servers, in lower case."""

_OF_PROGRAMS = frozenset(
    {
        ".ipynb_checkpoints", ".thumbs", ".thumbnails", ".git", ".cache", ".venv", ".idea",
        ".vscode", ".trash", ".dvc",
    }
)  # fmt: skip
"""Hidden folders that programs make, in lower case: nobody expects their images to be used."""


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sorts "img2" before "img10", without regard to case."""
    parts = re.findall(r"[0-9]+|[^0-9]+", text.casefold())
    return tuple((0, int(p), p) if p[0] in "0123456789" else (1, 0, p) for p in parts)


def is_hidden(name: str) -> bool:
    """Whether a file or folder is left out silently: hidden, or a system's own."""
    return name.startswith(".") or name.casefold() in _SYSTEM


def may_be_meant(name: str) -> bool:
    """Whether a hidden folder may be a class all the same: ".net", "lost+found"."""
    is_own = name.startswith(".") and name.casefold() not in _OF_PROGRAMS
    return is_own or name.casefold() == "lost+found"


def list_folders(folder: Path) -> list[Path]:
    """The visible folders in a folder, naturally sorted (symbolic links followed once)."""
    with os.scandir(folder) as entries:
        names = [e.name for e in entries if is_folder(e) and not is_hidden(e.name)]
    return [folder / name for name in sorted(names, key=entry_order)]


def list_pictures(folder: str | Path, *, is_deep: bool = False) -> list[Path]:
    """The picture files of a folder, naturally sorted; those of folders inside come after.

    A file counts by its ending, or else by its content; side files (`._*`, `Thumbs.db`,
    `.DS_Store`) and hidden files never do. With `is_deep`, folders inside count too; links
    to folders are then not followed, so that a loop of links ends.

    Raises:
        DatasetError: the folder is missing or cannot be listed.
    """
    return [Path(path) for path in each_picture(folder, is_deep=is_deep)]


def each_picture(
    folder: str | Path,
    *,
    is_deep: bool = False,
    on_unlisted: Callable[[DatasetError], None] | None = None,
) -> Iterator[str]:
    """Yields the files of `list_pictures` one after the other: only the names of one folder are
    held in memory.

    Args:
        folder: Where to look.
        is_deep: Folders inside count too.
        on_unlisted: Called for a folder inside that cannot be listed, which is then left out;
            None raises the error.
    """
    first = str(folder)
    waiting = [first]
    while waiting:
        inner: list[str] = []
        path = waiting.pop()
        try:
            entries = visible_entries(Path(path))
        except DatasetError as error:
            if on_unlisted is None or path == first:
                raise
            on_unlisted(error)
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner.append(entry.path)
            elif is_file(entry) and is_picture(entry.path):
                yield entry.path
        waiting += reversed(inner) if is_deep else []


def visible_entries(folder: Path) -> list[os.DirEntry[str]]:
    """What a folder holds, visible and sorted; raises DatasetError."""
    return entries_of(folder)[0]


def entries_of(folder: Path) -> tuple[list[os.DirEntry[str]], list[os.DirEntry[str]]]:
    """What a folder holds, visible and sorted, and what is hidden; raises DatasetError."""
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except OSError as error:
        raise DatasetError(
            f"The folder cannot be listed: {error.strerror}.",
            where=str(folder),
            fix="Check its permissions.",
        ) from None
    visible = [entry for entry in found if not is_hidden(entry.name)]
    hidden = [entry for entry in found if is_hidden(entry.name)]
    return sorted(visible, key=lambda entry: entry_order(entry.name)), hidden


def count_pictures(folder: str) -> int:
    """How many files in a hidden folder are named as pictures; links are not followed."""
    return sum(
        os.path.splitext(name)[1].lower() in ENDINGS  # noqa: PTH122 - as in is_picture
        for _, _, names in os.walk(folder)
        for name in names
        if not is_hidden(name)
    )


def entry_order(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """What sorts the names of a folder as people do."""
    return natural_key(name), name  # the name itself: "A1" and "a1" keep one order everywhere


def is_picture(path: str) -> bool:
    """Whether a file counts as a picture: by its ending, or else by its first bytes."""
    if os.path.splitext(path)[1].lower() in ENDINGS:  # noqa: PTH122 - a hundred thousand Paths are slow
        return True
    try:
        with open_foreign(path) as file:
            return sniff(file.read(HEAD_BYTES)) in DECODED
    except OSError:
        return False  # unreadable and not named like a picture: not needed
