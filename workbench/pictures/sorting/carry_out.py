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
from workbench.errors import SaveError, WorkbenchError, os_errors_as
from workbench.pictures.sorting.plan import Placement, Plan
from workbench.pictures.sorting.undo_file import (
    MadeFolder,
    Placed,
    Sealer,
    UndoWriter,
    copy_new,
    move_new,
)

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
        error: Why it ended early, as on a full disk; None where it did not.
    """

    num_done: int
    undo_file: Path
    failed: tuple[tuple[str, str], ...]
    moved: Mapping[str, str]
    is_stopped: bool = False
    error: WorkbenchError | None = None


def carry_out(
    plan: Plan,
    *,
    is_move: bool,
    sealer: Sealer,
    progress: Callable[[int], bool] = lambda _: True,
) -> Sorted:
    """Copies or moves the images of a plan. What cannot be placed stays, and stops nothing. What
    ends it early once it has begun, as no room left on the disk, is in the answer.

    Args:
        plan: What to do.
        is_move: Move, do not copy.
        sealer: Gives the user's key for the undo file.
        progress: Called with the number of images so far; whether to go on.

    Raises:
        SaveError: nothing was begun, as the copies have no room on the disk, or neither the folder
            nor the undo file can be made.
    """
    with os_errors_as(SaveError, "The folder cannot be made.", plan.into):
        plan.into.mkdir(parents=True, exist_ok=True)
    if not is_move:
        _refuse_full(plan)
    with UndoWriter(plan.into, is_move=is_move, sealer=sealer) as undo:
        doing = _Doing(plan, undo, is_move=is_move)
        is_stopped, error = False, None
        try:
            is_stopped = not doing.run(progress)
        except WorkbenchError as found:
            error = found
    return Sorted(
        num_done=len(doing.placed),
        undo_file=undo.path,
        failed=tuple(doing.failed),
        moved=doing.placed if is_move else {},
        is_stopped=is_stopped,
        error=error,
    )


class _Doing:
    """What was done so far."""

    def __init__(self, plan: Plan, undo: UndoWriter, *, is_move: bool) -> None:
        self._plan = plan
        self._undo = undo
        self._is_move = is_move
        self.placed: dict[str, str] = {}
        self.failed: list[tuple[str, str]] = []

    def run(self, progress: Callable[[int], bool]) -> bool:
        """Places all images; whether it came to the end. Raises WorkbenchError."""
        for folder in self._plan.counts():
            _make_folder(self._plan.into / folder, self._undo)
        for each in self._plan.placements:
            if not progress(len(self.placed) + len(self.failed)):
                return False
            try:
                into = self._plan.into
                self.placed[each.source] = _place(into, each, self._undo, is_move=self._is_move)
            except OSError as error:
                if error.errno in _FULL:
                    raise _full(self._undo.path, len(self.placed)) from None
                self.failed.append((each.source, _reason(error)))
        return True


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
    stamp = (found.st_size, found.st_mtime_ns)
    if stamp != (each.num_bytes, each.mtime_ns):
        raise OSError(errno.ESTALE, "was changed meanwhile")
    target = f"{each.folder}/{each.name}"
    undo.add(Placed(source=each.source, target=target, num_bytes=stamp[0], mtime_ns=stamp[1]))
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
            "Not enough disk space for the copies.",
            where=str(plan.into),
            received=f"{bytes_text(free)} free",
            expected=f"{bytes_text(plan.num_bytes)}",
            fix="Choose another disk, or move the images.",
        )


def _full(undo_file: Path, num_done: int) -> SaveError:
    return SaveError(
        f"Not enough disk space: only {plural(num_done, 'image')} placed.",
        where=str(undo_file.parent),
        fix=f"Free some disk space and repeat, or undo with {undo_file.name}.",
    )
