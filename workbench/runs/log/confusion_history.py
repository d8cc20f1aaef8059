"""Confusion matrices of a run, epoch by epoch, kept beside it.

`confusions.bin`: 8 bytes of _MAGIC, the number of classes as uint32, then for each epoch
its matrix as uint32 (classes, classes), rows the true classes; all little-endian. Appended by
the trainer alone; a last record that is cut off counts as not there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.own_file import open_own
from workbench.errors import SaveError, os_errors_as
from workbench.runs.folder import RunFolder

MAX_CLASSES = 256
"""Above it no matrices are counted or kept: 1,000 epochs of them would be more than 256 MiB."""

NAME = "confusions.bin"
_MOST_EPOCHS = 100_000
_MOST_BYTES = 512 * 1024 * 1024
_MAGIC = b"WBCONF1\n"
_HEADER_BYTES = len(_MAGIC) + 4

Matrix = np.ndarray[Any, np.dtype[np.uint32]]


def append_confusion(run: RunFolder, epoch: int, matrix: Matrix | None) -> None:
    """Keeps the matrix of an epoch; epochs that were left out get zeros. Raises SaveError, with
    those before unharmed.

    Args:
        run: Where to.
        epoch: From 1; what the file has from there on is replaced.
        matrix: (classes, classes), counts; None, or more classes than are kept, does nothing.
    """
    if matrix is None or len(matrix) > MAX_CLASSES:
        return
    path, classes = run.path / NAME, len(matrix)
    record = np.ascontiguousarray(matrix, "<u4").tobytes()
    what = "The confusion matrix of this epoch could not be saved."
    fix = "Free some disk space. Training continues."
    flags = os.O_RDWR | os.O_CREAT | (0 if _num_classes(path) == classes else os.O_TRUNC)
    with (
        os_errors_as(SaveError, what, path, fix=fix),
        os.fdopen(open_own(path, flags), "r+b") as file,
    ):
        file.write(_MAGIC + np.uint32(classes).astype("<u4").tobytes())
        # Seeking behind the end leaves zeros where epochs are missing.
        file.truncate(_HEADER_BYTES + min(epoch - 1, _num_epochs(path, classes)) * len(record))
        file.seek(_HEADER_BYTES + (epoch - 1) * len(record))
        file.write(record)


def truncate_confusions(run: RunFolder, epochs: int) -> None:
    """Keeps the first `epochs` matrices, for a run that goes on from there; raises SaveError."""
    path = run.path / NAME
    classes = _num_classes(path)
    if classes is None or _num_epochs(path, classes) <= epochs:
        return
    what = "The confusion matrices of the run could not be truncated."
    fix = "Check that the run folder is writable."
    with (
        os_errors_as(SaveError, what, path, fix=fix),
        os.fdopen(open_own(path, os.O_RDWR), "r+b") as file,
    ):
        file.truncate(_HEADER_BYTES + epochs * _record_bytes(classes))


def read_confusion(run: RunFolder, epoch: int) -> Matrix | None:
    """The matrix of an epoch, uint32 (classes, classes); None when there is none."""
    records = _records(run.path / NAME)
    if records is None or not 1 <= epoch <= len(records):
        return None
    return np.array(records[epoch - 1], np.uint32)


def read_class_accuracy(run: RunFolder) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The share of each class's images that was classified right, float64 (epochs, classes); NaN
    where a class has no images, (0, 0) when nothing is kept.
    """
    records = _records(run.path / NAME)
    if records is None or not len(records):
        return np.zeros((0, 0))
    right = np.diagonal(records, axis1=1, axis2=2).astype(np.float64)
    # Epoch by epoch: a sum over all would hold all of them in memory at once.
    counts = np.array([record.sum(axis=1, dtype=np.float64) for record in records])
    shares = np.full_like(right, np.nan)
    np.divide(right, counts, out=shares, where=counts > 0)
    return shares


def _records(path: Path) -> np.ndarray[Any, Any] | None:
    """All whole records, mapped and not read, (epochs, classes, classes)."""
    classes = _num_classes(path)
    if classes is None:
        return None
    try:
        epochs = _num_epochs(path, classes)
        if not epochs:
            return np.zeros((0, classes, classes), "<u4")
        shape = (epochs, classes, classes)
        return np.memmap(path, "<u4", "r", offset=_HEADER_BYTES, shape=shape)
    except (OSError, ValueError):  # cut or removed in between
        return None


def _num_classes(path: Path) -> int | None:
    """The head of the file; None without a file of this kind."""
    try:
        with open_foreign(path) as file:
            head = file.read(_HEADER_BYTES)
    except OSError:
        return None
    if len(head) != _HEADER_BYTES or not head.startswith(_MAGIC):
        return None
    classes = int.from_bytes(head[len(_MAGIC) :], "little")
    return classes if 1 <= classes <= MAX_CLASSES else None


def _num_epochs(path: Path, classes: int) -> int:
    size = min(path.stat().st_size, _MOST_BYTES)
    return min(_MOST_EPOCHS, max(0, size - _HEADER_BYTES) // _record_bytes(classes))


def _record_bytes(classes: int) -> int:
    return 4 * classes * classes
