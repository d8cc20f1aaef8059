"""One file to another place: never onto a file that is there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE_BYTES = 1 << 20


def copy_new(source: str | Path, target: Path) -> None:
    """Copies content, times and permissions to a new file, whole or not at all.

    Raises:
        FileExistsError: there is a file of that name.
        OSError: it cannot be copied.
    """
    new = os.open(target, _NEW, 0o644)
    try:
        with os.fdopen(new, "wb") as write, Path(source).open("rb") as read:
            shutil.copyfileobj(read, write, _PIECE_BYTES)
        shutil.copystat(source, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def move_new(source: str | Path, target: Path) -> None:
    """Moves a file to a new name; on the same file system without copying. The source is removed
    once the target is there. Raises as `copy_new`.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # another file system, or one without hard links
        copy_new(source, target)
        with target.open("rb") as copied:
            os.fsync(copied.fileno())
    Path(source).unlink()
