"""Arrays that take long to unpack are kept unpacked, as memory-mapped .npy files."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import LoadContext
from workbench.errors import DatasetError

Array = np.ndarray[Any, Any]

_LAYOUT = 1
"""Raised when what is stored changes, so that older caches are not read."""


def cached_arrays(
    ctx: LoadContext, name: str, source: Path, unpack: Callable[[], Mapping[str, Array]]
) -> dict[str, Array]:
    """The arrays of `unpack()`, from the cache where it holds them already.

    The cache entry belongs to the source's path, size and time of change: a changed file is
    unpacked anew and the older entry removed. The entry appears whole or not at all.

    Returns:
        Read-only memory maps by name.

    Raises:
        DatasetError: the cache could not be written (for example, the disk is full).
    """
    source = source.resolve()
    place = hashlib.sha256(str(source).encode(errors="surrogateescape")).hexdigest()[:12]
    status = source.stat()
    folder = Path(ctx.cache_folder) / "arrays"
    entry = folder / f"{name}-{place}-{status.st_size:x}-{status.st_mtime_ns:x}-{_LAYOUT}"
    arrays = _open(entry)
    if arrays is None:
        unpacked = unpack()
        ctx.check_cancelled()
        _write(entry, unpacked)
        arrays = _open(entry)
        for old in folder.glob(f"{name}-{place}-*"):
            if old != entry:
                shutil.rmtree(old, ignore_errors=True)
    return dict(unpacked) if arrays is None else arrays


def _open(entry: Path) -> dict[str, Array] | None:
    """The arrays of a complete entry; None when there is none or it is damaged."""
    try:
        files = sorted(entry.glob("*.npy"))
        arrays = {f.stem: np.load(f, mmap_mode="r", allow_pickle=False) for f in files}
    except (OSError, ValueError, EOFError):
        shutil.rmtree(entry, ignore_errors=True)
        return None
    return arrays or None


def _write(entry: Path, arrays: Mapping[str, Array]) -> None:
    entry.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=entry.parent))
    try:
        for name, array in arrays.items():
            with (temporary / f"{name}.npy").open("wb") as file:
                np.save(file, array, allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
        temporary.rename(entry)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if entry.is_dir():  # another process was faster
            return
        raise DatasetError(
            f"The unpacked pictures could not be stored: {error.strerror}.",
            where=str(entry.parent),
            expected=f"{sum(a.nbytes for a in arrays.values()):,} bytes of free space",
            fix="Free some space, or set WORKBENCH_HOME to a folder on another disk.",
        ) from error
