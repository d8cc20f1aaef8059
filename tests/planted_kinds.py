"""What may have the name of a file without being one: planted in place of what a reader expects."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SPARSE_BYTES = 3 << 30
"""Length of a file that takes no room on the disk."""

KINDS = ("fifo", "device", "folder", "loop", "sparse", "nothing behind a link")


def plant_kind(path: Path, kind: str) -> None:
    """Replaces what is at a path, or puts it there where nothing is."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "loop":
            path.symlink_to(path)
        case "sparse":
            with path.open("wb") as file:
                file.truncate(SPARSE_BYTES)
        case _:
            path.symlink_to(path.with_name("nothing"))
