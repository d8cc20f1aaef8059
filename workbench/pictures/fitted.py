"""Parts of a data set as rows of one shape: decoded and fitted once and kept on disk, or,
where the disk has no room for them, decoded again at each read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.format import bytes_text
from workbench.core.specs import ArrayPart, FilePart, LoadContext, Part, Shape
from workbench.core.storage.own_file import refuse_link
from workbench.errors import DatasetError, PictureError
from workbench.pictures.contents import in_steps
from workbench.pictures.file_rows import FileRows
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.rows import (
    BadRows,
    Rows,
    has_room,
    open_rows,
    prune,
    read_checked,
    write_checked,
    write_rows,
)
from workbench.pictures.thumbnails import part_picture

Pixels = np.ndarray[Any, np.dtype[np.uint8]]

_LAYOUT = 3
"""Raised when decoding or fitting changes what it gives, so that older rows are not read."""

_STEP = 16
"""Images a thread takes at a time: fewer than usual, for their pixels are kept."""


@dataclass(frozen=True)
class Fitted:
    """A part's pictures at one shape.

    Attributes:
        rows: All of them, in order; those of unreadable files are black, or fail when read.
        bad: Which could not be read, and why.
        note: A sentence worth showing, or "".
    """

    rows: Rows
    bad: BadRows = field(default_factory=dict)
    note: str = ""


def fitted_rows(
    part: Part, shape: Shape, fit: str, ctx: LoadContext, words: str, *, is_streamed: bool = False
) -> Fitted:
    """The part's pictures brought to `shape`, in order, and which could not be read.

    Args:
        part: Files, or pictures in memory.
        shape: (height, width, 1 or 3).
        fit: A key of fits.FITS.
        ctx: Cache folder, progress and canceling.
        words: What is being prepared, for the progress, e.g. "training pictures".
        is_streamed: Store nothing: decode at each read. Also done where the disk is full.

    Raises:
        DatasetError, LinkFoundError: the pictures cannot be stored.
    """
    if isinstance(part, ArrayPart) and part.pictures.shape[1:] == tuple(shape):
        return Fitted(part.pictures)
    folder = Path(ctx.cache_folder) / "pictures"
    refuse_link(folder)
    key = _key(part, shape, fit)
    decoded = _rows(part, shape, fit, ctx, words)  # nothing is decoded before it is read
    if is_streamed:
        return _streamed(part, shape, fit, decoded, folder / f"{key}.checked")
    path = folder / f"{key}.npy"
    stored = open_rows(path, len(part), shape)
    if stored is None:
        needed = len(part) * int(np.prod(shape))
        if not has_room(folder, needed):
            streamed = _streamed(part, shape, fit, decoded, folder / f"{key}.checked")
            return replace(streamed, note=_no_room(words, needed))
        write_rows(path, decoded, len(part), shape)
        prune(folder)
        stored = open_rows(path, len(part), shape)
    if stored is None:  # removed by someone between writing and opening
        raise DatasetError("The prepared images are missing.", where=str(path))
    return Fitted(*stored)


def _no_room(words: str, needed: int) -> str:
    return (
        f"Not enough disk space for the prepared {words} ({bytes_text(needed)}): they are "
        "decoded again in each epoch, which is slower."
    )


def _streamed(
    part: Part, shape: Shape, fit: str, tried: Iterator[Pixels | str], checked: Path
) -> Fitted:
    """Rows that decode when read. Which are bad is known from decoding all once before."""
    bad = read_checked(checked)
    if bad is None:
        rows = enumerate(tried)
        bad = {number: row for number, row in rows if isinstance(row, str)}
        write_checked(checked, bad)
    return Fitted(FileRows(part, shape, fit, np.arange(len(part))), bad)


def _key(part: Part, shape: Shape, fit: str) -> str:
    """A name for these pictures at this shape: content or path, size and time of change."""
    digest = hashlib.sha256(repr((_LAYOUT, tuple(shape), fit, len(part))).encode())
    if isinstance(part, FilePart):
        digest.update(part.value_range.encode())
        for path in part.paths:
            digest.update(_file_mark(path))
    else:
        for start in range(0, len(part), 1024):
            digest.update(part.pictures[start : start + 1024].tobytes())
        digest.update(repr(part.pictures.shape).encode())
    return digest.hexdigest()[:32]


def _file_mark(path: str) -> bytes:
    name = os.path.abspath(path).encode(errors="surrogateescape")  # noqa: PTH100 - bytes of it
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return name + b"\0missing\0"
    return name + f"\0{status.st_size}\0{status.st_mtime_ns}\0".encode()


def _rows(
    part: Part, shape: Shape, fit: str, ctx: LoadContext, words: str
) -> Iterator[Pixels | str]:
    side = side_to_decode(shape)

    def one(index: int) -> Pixels | str:
        try:
            return fit_picture(part_picture(part, index, side=side), shape, fit=fit)
        except PictureError as error:
            return _reason(error)

    def step(places: slice) -> list[Pixels | str]:
        return [one(index) for index in range(len(part))[places]]

    return in_steps(step, len(part), ctx, f"Preparing {words}", size=_STEP)


def _reason(error: PictureError) -> str:
    """One line without the path, which the list of bad files has beside it."""
    received = f": {error.received}" if error.received else ""
    return f"{error.what.rstrip('.')}{received}"
