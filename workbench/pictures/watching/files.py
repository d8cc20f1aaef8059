"""The files of a folder and of those inside, with what changes when they are written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from workbench.errors import DatasetError
from workbench.pictures.folders import entry_order, is_hidden

_UNFINISHED = (".crdownload", ".download", ".filepart", ".part", ".partial", ".tmp")
"""Endings that programs give to files they are still writing."""

Mark = tuple[int, int, int]
"""Time of the last change in ns, size in bytes, number of the file on its disk."""


def mark_of(status: os.stat_result) -> Mark:
    """What changes with the content of a file."""
    return status.st_mtime_ns, status.st_size, status.st_ino


def files_of(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """All visible files, in order; raises DatasetError where the folder is gone."""
    waiting = [str(folder)]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as entries:
                visible = [entry for entry in entries if not is_hidden(entry.name)]
        except OSError as error:
            if path == str(folder):
                raise _gone(folder, error) from None
            continue  # a folder inside is gone again, or not for us
        visible.sort(key=lambda entry: entry_order(entry.name))
        inner = []
        for entry in visible:
            try:
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.path)
                elif entry.is_file() and not entry.name.lower().endswith(_UNFINISHED):
                    yield entry.path, entry.stat()
            except OSError:  # gone since it was listed
                continue
        waiting += reversed(inner)


def _gone(folder: Path, error: OSError) -> DatasetError:
    is_gone = isinstance(error, FileNotFoundError | NotADirectoryError)
    what = "The watched folder is gone." if is_gone else "The watched folder cannot be listed."
    return DatasetError(
        what, where=str(folder), received=(error.strerror or "")[:200], fix="Watch another folder."
    )
