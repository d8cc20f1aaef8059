"""ShowPicture: an image as large as people look at one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import Part, parts_of
from workbench.errors import DatasetError
from workbench.pictures.png import write_png
from workbench.pictures.thumbnails import decode_reduced, part_picture, thumbnail
from workbench.protocol.describe_data import ShowPicture
from workbench.protocol.messages import Done
from workbench.worker.input.sources import edits_of, load_source
from workbench.worker.requests.session import Job

SHOWN_SIZE = 960
"""Longer side in pixels; smaller images keep their size."""

_KEPT = 4
"""Images that stay in the session folder: those before have been looked at."""

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def show_picture(job: Job, request: ShowPicture) -> Done:
    """Writes the image.

    Raises:
        DatasetError: the source cannot be loaded, or has no such image any more.
        PictureError: the image cannot be read.
    """
    pixels = _pixels(job, request)
    job.check_cancelled()
    folder = job.folder / "shown"
    folder.mkdir(exist_ok=True)
    _forget_earlier(folder)
    path = folder / f"{job.id}-{time.monotonic_ns()}.png"
    write_png(path, thumbnail(pixels, SHOWN_SIZE))
    return Done(id=job.id, path=str(path))


def _pixels(job: Job, request: ShowPicture) -> Pixels:
    if request.file:
        return decode_reduced(request.file, SHOWN_SIZE).pixels
    edits = edits_of(request.edits)
    loaded = load_source(job, request.source, request.params, edits)
    part: Part | None = dict(parts_of(loaded)).get(request.part)
    if part is None or not 0 <= request.index < len(part):
        raise DatasetError(
            "The data set has changed: this image is no longer in it.",
            received=f"image {request.index:,}",
            expected=f"one of {len(part):,}" if part is not None else "another part",
            fix="Rescan the data set.",
        )
    return part_picture(part, request.index, side=SHOWN_SIZE)


def _forget_earlier(folder: Path) -> None:
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in files[: max(0, len(files) + 1 - _KEPT)]:
        path.unlink(missing_ok=True)
