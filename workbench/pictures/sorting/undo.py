"""Takes back what was copied or moved."""

from __future__ import annotations

import contextlib
import filecmp
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import SaveError, os_errors_as
from workbench.pictures.sorting.undo_file import (
    MadeFolder,
    Placed,
    Sealer,
    move_new,
    new_part_name,
    only_keeps_name,
    read_lines,
    why_not_foreign,
)

_GONE = "is not there any more"

_CLOCK_NS = 2_000_000_000
"""Resolution of times of change, in nanoseconds: some file systems are this coarse."""


@dataclass(frozen=True)
class Undo:
    """What an undo file says.

    Attributes:
        path: The file.
        is_move: The images were moved, not copied.
        images: Those that were placed, in order.
        folders: Names of those that were made; none of a foreign undo file.
        part: Name of a copy that a kill has left unfinished, in any of the folders; "" for none.
        is_foreign: It was not written by this user on this computer, or changed since.
    """

    path: Path
    is_move: bool
    images: tuple[Placed, ...]
    folders: tuple[str, ...]
    part: str = ""
    is_foreign: bool = True

    def steps(self) -> list[tuple[str, str]]:
        """(where it is, where it is put back to, or "" where it is deleted) of each image."""
        return [
            (str(self.path.parent / image.target), image.source if self.is_move else "")
            for image in self.images
        ]

    def places(self) -> list[str]:
        """The folders in which files appear or are deleted, in order."""
        found = (os.path.dirname(to or at) for at, to in self.steps())  # noqa: PTH120 - many
        return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Undone:
    """What was taken back.

    Attributes:
        num_done: Images that were put back, or copies that were deleted.
        kept: (file, reason) of images that were left where they are.
        moved: Where images that were moved are again, by the path that they had meanwhile; {} of
            copies.
        is_complete: Whether the undo file is deleted, as nothing is left to take back.
    """

    num_done: int
    kept: tuple[tuple[str, str], ...]
    moved: Mapping[str, str]
    is_complete: bool


def read_undo(path: Path, *, sealer: Sealer) -> Undo:
    """Reads an undo file; changes nothing. Raises InputError."""
    header, lines, is_sealed = read_lines(path, sealer)
    return Undo(
        path=path,
        is_move=header.is_move,
        images=tuple(line for line in lines if isinstance(line, Placed)),
        folders=tuple(line.name for line in lines if isinstance(line, MadeFolder)) * is_sealed,
        part=header.part if is_sealed else "",
        is_foreign=not is_sealed,
    )


def undo(what: Undo, *, progress: Callable[[int], bool] = lambda _: True) -> Undone:
    """Puts moved images back, deletes copies and removes the folders that were made, where they are
    empty. What was changed or removed since is left alone, and so is what a foreign undo file may
    not touch. The undo file is deleted once nothing is left to take back.

    Args:
        what: See `read_undo`.
        progress: Called with the number of images so far; whether to go on.
    """
    folder, num_done, kept, is_whole = what.path.parent, 0, [], True
    moved: dict[str, str] = {}
    for number, image in enumerate(reversed(what.images)):
        if not progress(number):
            is_whole = False
            break
        target = folder / image.target
        if os.path.lexists(image.source) and _is_free(target, image, what):
            moved[str(target)] = image.source
            continue  # never placed, or taken back before
        try:
            reason = _why_not(target, image, what) or _take_back(image, target, what)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
        if reason:
            kept.append((str(target), reason))
        else:
            num_done += 1
            moved[str(target)] = image.source
    for name in {*what.folders, *(image.target.split("/")[0] for image in what.images)}:
        _remove_part(folder / name, what.part)
    for name in what.folders:
        _remove_empty(folder / name)
    is_complete = is_whole and all(reason == _GONE for _, reason in kept)
    if is_complete:
        with os_errors_as(SaveError, "The undo file cannot be deleted.", what.path):
            what.path.unlink()
    return Undone(num_done, tuple(kept), moved if what.is_move else {}, is_complete)


def _is_free(target: Path, image: Placed, what: Undo) -> bool:
    """Whether nothing is where an image was to be placed; what a kill has left there is removed."""
    if not os.path.lexists(target):
        return True
    if target.parent.is_symlink() or not only_keeps_name(target, what.part, image.num_bytes):
        return False
    with contextlib.suppress(OSError):
        target.unlink()
    return not os.path.lexists(target)


def _why_not(target: Path, image: Placed, what: Undo) -> str:
    """Why an image is left alone; "" where it is as it was placed."""
    if target.parent.is_symlink() or target.is_symlink():
        return "is a link"
    try:
        found = target.stat()
    except FileNotFoundError:
        return _GONE
    is_same = found.st_size == image.num_bytes
    is_same = is_same and abs(found.st_mtime_ns - image.mtime_ns) <= _CLOCK_NS
    if not is_same:
        return "was changed"
    if what.is_foreign:
        return why_not_foreign(image.source, target, is_move=what.is_move)
    return ""


def _take_back(image: Placed, target: Path, what: Undo) -> str:
    return _put_back(image, target, what.part) if what.is_move else _delete_copy(image, target)


def _put_back(image: Placed, target: Path, part: str) -> str:
    source = Path(image.source)
    if only_keeps_name(source, part, image.num_bytes):
        source.unlink()  # of an undo that was killed
    if os.path.lexists(source):
        if source.is_file() and filecmp.cmp(source, target, shallow=False):
            target.unlink()  # killed after it was placed, before it was removed here
            return ""
        return "another file is where it was"
    source.parent.mkdir(parents=True, exist_ok=True)
    _remove_part(source.parent, part)  # of an undo that was killed
    move_new(target, source, part or new_part_name())
    return ""


def _delete_copy(image: Placed, target: Path) -> str:
    """Only while the original is there: a copy may have become the only one."""
    if not Path(image.source).is_file():
        return "its original is not there any more"
    target.unlink()
    return ""


def _remove_part(folder: Path, part: str) -> None:
    with contextlib.suppress(OSError):  # then the folder is not empty, and stays
        if part and not folder.is_symlink():
            (folder / part).unlink()


def _remove_empty(folder: Path) -> None:
    try:
        if not folder.is_symlink():
            folder.rmdir()
    except OSError:
        return  # something is in it
