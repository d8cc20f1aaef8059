"""Arrays that take long to unpack are kept unpacked, as memory-mapped .npy files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import ArrayPart, LoadContext, LoadedData
from workbench.core.storage.foreign_file import open_foreign, read_foreign
from workbench.core.storage.own_file import make_private, refuse_link
from workbench.errors import DatasetError
from workbench.pictures.rows import LEFTOVER_AGE_S, remove_leftovers

Array = np.ndarray[Any, Any]

_LAYOUT = 6
"""Raised when what is stored changes, so that older entries are not read."""

_FACTS = "facts.json"
_TEMPORARY = ".unpacking-"

KEEP_ENTRIES = 12
"""Unpacked sources kept; the longest unused go first, but none used within a day."""


@dataclass(frozen=True)
class Entry:
    """One unpacked source: read-only memory maps by name, and plain facts about them."""

    arrays: Mapping[str, Array]
    facts: Mapping[str, Any]


def cached_entry(
    ctx: LoadContext, name: str, source: Path, fill: Callable[[Path], Mapping[str, Any]]
) -> Entry:
    """What `fill` unpacks, from the cache where it is there already.

    The entry belongs to the source's path, size and time of change: a changed file is
    unpacked again and the older entry removed. An entry appears whole or not at all.

    Args:
        ctx: Names the cache folder.
        name: Beginning of the entry's name.
        source: The packed file.
        fill: Writes NAME.npy files into the folder it is given and returns the facts (JSON
            values).

    Raises:
        DatasetError: the cache could not be written (for example, the disk is full).
        OSError: the source is not there.
    """
    source = source.resolve()
    place = hashlib.sha256(str(source).encode(errors="surrogateescape")).hexdigest()[:12]
    status = source.stat()
    folder = Path(ctx.cache_folder) / "arrays"
    refuse_link(folder)
    path = folder / f"{name}-{place}-{status.st_size:x}-{status.st_mtime_ns:x}-{_LAYOUT}"
    entry = _open(path)
    if entry is None:
        _make(path, fill)
        entry = _open(path)
        _forget(folder, path, f"{name}-{place}-")
    if entry is None:
        raise DatasetError("The unpacked images are missing.", where=str(path))
    return entry


def cached_data(
    ctx: LoadContext,
    name: str,
    source: Path,
    class_names: tuple[str, ...],
    unpack: Callable[[], Mapping[str, Array]],
) -> LoadedData:
    """A published data set, as `unpack` gives it: x_train, y_train, x_test, y_test. Images are
    uint8 (n, height, width, channels), labels whole numbers (n,).

    Raises:
        DatasetError: the cache could not be written (for example, the disk is full).
    """

    def fill(folder: Path) -> Mapping[str, Any]:
        for part, array in unpack().items():
            save_array(folder, part, array)
        return {}

    arrays = cached_entry(ctx, name, source, fill).arrays
    train, test = (
        ArrayPart(arrays[f"x_{part}"], arrays[f"y_{part}"].astype(np.int64))
        for part in ("train", "test")
    )
    return LoadedData(class_names=class_names, train=train, test=test)


def save_array(folder: Path, name: str, array: Array) -> None:
    """Writes one array of an entry; raises OSError."""
    with (folder / f"{name}.npy").open("wb") as file:
        np.save(file, array, allow_pickle=False)


def _forget(folder: Path, made: Path, prefix: str) -> None:
    """Removes older entries of the same source, and the longest unused of all others."""
    others = []
    for path in folder.iterdir():
        if path != made and not path.name.startswith("."):
            try:
                others.append((path.stat().st_mtime, path))
            except FileNotFoundError:
                continue  # another process forgot it first
    for number, (used, path) in enumerate(sorted(others, reverse=True), 2):
        is_unused = time.time() - used > LEFTOVER_AGE_S
        if path.name.startswith(prefix) or (number > KEEP_ENTRIES and is_unused):
            shutil.rmtree(path, ignore_errors=True)


_MAX_FACTS_BYTES = 64 * 1024 * 1024


def _open(path: Path) -> Entry | None:
    """A complete entry; None when there is none or it is damaged."""
    try:
        facts = json.loads(read_foreign(path / _FACTS, _MAX_FACTS_BYTES))
        files = sorted(path.glob("*.npy"))
        arrays = {f.stem: _mapped(f) for f in files}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError):
        shutil.rmtree(path, ignore_errors=True)
        return None
    os.utime(path, follow_symlinks=False)  # used just now
    return Entry(arrays, facts)


def _mapped(path: Path) -> np.ndarray[Any, Any]:
    open_foreign(path).close()  # refuses what is no file
    mapped: np.ndarray[Any, Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return mapped


def _make(path: Path, fill: Callable[[Path], Mapping[str, Any]]) -> None:
    temporary: Path | None = None
    try:
        make_private(path.parent)
        remove_leftovers(path.parent, _TEMPORARY)
        temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=path.parent))
        facts = fill(temporary)
        (temporary / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
        for file in temporary.iterdir():
            with open_foreign(file) as opened:  # on the disk before the name is
                os.fsync(opened.fileno())
        temporary.rename(path)
    except OSError as error:
        if not path.is_dir():  # else another process was faster, and its entry is as good
            raise _not_stored(path, error) from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _not_stored(path: Path, error: OSError) -> DatasetError:
    return DatasetError(
        f"The unpacked images could not be stored: {error.strerror or error}.",
        where=str(path.parent),
        fix="Free some space, or set WORKBENCH_HOME to a folder on another disk.",
    )
