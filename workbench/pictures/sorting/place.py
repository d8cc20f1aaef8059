"""One file to another place: never onto a file that is there, and never half of it."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from pathlib import Path

from workbench.core.storage.foreign_file import open_foreign

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE_BYTES = 1 << 20


def new_part_name() -> str:
    """A name that no other file has, for a copy that is not whole yet."""
    return f".workbench-{secrets.token_hex(8)}.part"


def copy_new(source: str | Path, target: Path, part: str) -> None:
    """Copies content, times and permissions to a new file, whole or not at all.

    Args:
        source: The file.
        target: The new file.
        part: Name of the copy, beside `target`, until it is whole; a kill leaves it there.

    Raises:
        FileExistsError: there is a file of that name.
        OSError: it cannot be copied.
    """
    beside = target.with_name(part)
    new = os.open(beside, _NEW, 0o644)
    try:
        with os.fdopen(new, "wb") as write, open_foreign(source) as read:
            shutil.copyfileobj(read, write, _PIECE_BYTES)
            write.flush()
            shutil.copystat(source, beside)
            os.fsync(write.fileno())
        _rename_new(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def move_new(source: str | Path, target: Path, part: str) -> None:
    """Moves a file to a new name; on the same file system without copying. The source is removed
    once the target is there; where that fails, the target is removed. Arguments and errors as of
    `copy_new`.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # another file system, or one without hard links
        copy_new(source, target, part)
        _sync_folder(target.parent)  # before the source is gone from another disk
    try:
        Path(source).unlink()
    except BaseException:
        target.unlink()
        raise


def only_keeps_name(target: Path, part: str, num_bytes: int) -> bool:
    """Whether a file is the empty one by which a copy of so many bytes keeps its name free where
    there are no hard links: a kill leaves it, with the whole copy beside it under the name of its
    part.
    """
    try:
        is_empty = stat.S_ISREG(target.lstat().st_mode) and target.lstat().st_size == 0
        return is_empty and bool(part) and target.with_name(part).lstat().st_size == num_bytes
    except OSError:
        return False


def _rename_new(path: Path, target: Path) -> None:
    try:
        os.link(path, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: an empty file keeps the name free of others
        os.close(os.open(target, _NEW, 0o644))
        try:
            path.replace(target)
        except BaseException:
            target.unlink()
            raise


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
