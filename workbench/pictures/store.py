"""Decoded pictures on disk: one .npy file that appears when it is complete.

Rows are written one after the other with plain writes: a full disk is then an error in
words, where writing into a memory map would kill the process.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import Shape
from workbench.errors import DatasetError

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
BadRows = dict[int, str]
"""Row number -> reason in words of a picture that could not be read; its row is black."""

KEEP_BYTES = 20 * 10**9
"""The cache of prepared pictures: the longest unused go when there is more than this."""


LEFTOVER_AGE_S = 86_400.0
"""Temporary files older than this belong to no living process."""

_TEMPORARY = ".preparing-"


def open_rows(path: Path, count: int, shape: Shape) -> tuple[Pixels, BadRows] | None:
    """The rows stored at `path`, memory-mapped; None when absent, damaged or of another form."""
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
        bad = {int(k): str(v) for k, v in json.loads(_side_file(path).read_text()).items()}
        if rows.shape != (count, *shape) or rows.dtype != np.uint8:
            return None
        os.utime(path)  # used just now: pruning takes others first
    except (OSError, ValueError, EOFError, AttributeError):
        return None
    return rows, bad


def write_rows(path: Path, rows: Iterable[Pixels | str], count: int, shape: Shape) -> None:
    """Stores `count` rows, each pixels of `shape` or the reason why there are none.

    Whatever `rows` raises leaves no file behind.

    Raises:
        DatasetError: the file could not be written (for example, the disk is full).
    """
    black = bytes(int(np.prod(shape)))
    bad: BadRows = {}
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path.parent, _TEMPORARY)
        handle, name = tempfile.mkstemp(prefix=_TEMPORARY, suffix=".npy", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb", buffering=1 << 20) as file:
            _write_header(file, (count, *shape))
            for number, row in enumerate(rows):
                if isinstance(row, str):
                    bad[number] = row
                file.write(black if isinstance(row, str) else row.tobytes())
        _side_file(path).write_text(json.dumps(bad))
        temporary.replace(path)
    except OSError as error:
        raise DatasetError(
            f"The prepared pictures could not be stored: {error.strerror}.",
            where=str(path.parent),
            expected=f"{count * len(black):,} bytes of free space",
            fix="Free some space, or set WORKBENCH_HOME to a folder on another disk.",
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def prune(folder: Path, keep_bytes: int = KEEP_BYTES) -> None:
    """Removes the longest unused files beyond `keep_bytes`, but never the newest.

    Open memory maps of removed files stay valid.
    """
    files = []
    for path in folder.glob("*.npy"):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue  # another process pruned it
        files.append((status.st_mtime, status.st_size, path))
    files.sort(reverse=True)
    total = 0
    for number, (_, size, path) in enumerate(files):
        total += size
        if number and total > keep_bytes:
            path.unlink(missing_ok=True)
            _side_file(path).unlink(missing_ok=True)


def remove_leftovers(folder: Path, prefix: str) -> None:
    """Removes temporary files and folders that a killed process left more than a day ago."""
    for path in folder.glob(f"{prefix}*"):
        try:
            is_old = time.time() - path.stat().st_mtime > LEFTOVER_AGE_S
        except FileNotFoundError:
            continue  # its owner lives and has just finished it
        if is_old and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif is_old:
            path.unlink(missing_ok=True)


def _side_file(path: Path) -> Path:
    return path.with_suffix(".json")


def _write_header(file: Any, shape: Shape) -> None:
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
