"""Does what a plan says, one image after the other."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.core.format import bytes_text, plural
from workbench.core.storage.own_file import refuse_link
from workbench.errors import SaveError, os_errors_as
from workbench.pictures.sorting.place import copy_new, move_new
from workbench.pictures.sorting.plan import Placement, Plan
from workbench.pictures.sorting.undo_file import MadeFolder, Placed, UndoWriter

_FULL = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True)
class Sorted:
    """What was done.

    Attributes:
        num_done: Images that were placed.
        undo_file: Takes it back.
        failed: (file, reason) of images that stayed where they are.
        moved: Where the moved images are now, by the path they had; {} of copies.
        is_stopped: Whether `progress` ended it early.
    """

    num_done: int
    undo_file: Path
    failed: tuple[tuple[str, str], ...]
    moved: Mapping[str, str]
    is_stopped: bool = False


def carry_out(
    plan: Plan, *, is_move: bool, progress: Callable[[int], bool] = lambda _: True
) -> Sorted:
    """Copies or moves the images of a plan. What cannot be placed stays, and stops nothing.

    Args:
        plan: What to do.
        is_move: Move, do not copy.
        progress: Called with the number of images so far; whether to go on.

    Raises:
        SaveError: a folder cannot be made, or there is no room left on the disk; the message has
            the undo file of what was done.
        LinkFoundError: a class folder is a link.
    """
    with os_errors_as(SaveError, "The folder cannot be made.", plan.into):
        plan.into.mkdir(parents=True, exist_ok=True)
    if not is_move:
        _refuse_full(plan)
    with UndoWriter(plan.into, is_move=is_move) as undo:
        failed: list[tuple[str, str]] = []
        placed: dict[str, str] = {}
        for folder in plan.counts():
            _make_folder(plan.into / folder, undo)
        for each in plan.placements:
            if not progress(len(placed) + len(failed)):
                break
            try:
                placed[each.source] = _place(plan.into, each, undo, is_move=is_move)
            except OSError as error:
                if error.errno in _FULL:
                    raise _full(undo.path, len(placed)) from None
                failed.append((each.source, _reason(error)))
    return Sorted(
        num_done=len(placed),
        undo_file=undo.path,
        failed=tuple(failed),
        moved=placed if is_move else {},
        is_stopped=len(placed) + len(failed) < len(plan.placements),
    )


def _make_folder(path: Path, undo: UndoWriter) -> None:
    refuse_link(path)
    if not path.is_dir():
        undo.add(MadeFolder(name=path.name))
        with os_errors_as(SaveError, "The folder cannot be made.", path):
            path.mkdir()


def _place(into: Path, each: Placement, undo: UndoWriter, *, is_move: bool) -> str:
    """Places an image; its new path."""
    if is_move and os.path.islink(each.source):  # noqa: PTH114 - a hundred thousand Paths are slow
        raise OSError(errno.ELOOP, "is a link")
    found = os.stat(each.source)  # noqa: PTH116 - as above
    target = f"{each.folder}/{each.name}"
    line = Placed(
        source=each.source, target=target, num_bytes=found.st_size, mtime_ns=found.st_mtime_ns
    )
    undo.add(line)
    (move_new if is_move else copy_new)(each.source, into / target, undo.part)
    return str(into / target)


def _reason(error: OSError) -> str:
    if isinstance(error, FileExistsError):
        return "a file of that name has appeared in the class folder"
    return (error.strerror or str(error)).lower()


def _refuse_full(plan: Plan) -> None:
    free = shutil.disk_usage(plan.into).free
    if plan.num_bytes > free:
        raise SaveError(
            "There is not enough room on the disk for the copies.",
            where=str(plan.into),
            received=f"{bytes_text(free)} free",
            expected=f"{bytes_text(plan.num_bytes)}",
            fix="Choose another disk, or move the images.",
        )


def _full(undo_file: Path, num_done: int) -> SaveError:
    return SaveError(
        f"There is no room left on the disk: {plural(num_done, 'image')} placed.",
        where=str(undo_file.parent),
        fix=f"Free some disk space and repeat, or undo with {undo_file.name}.",
    )
