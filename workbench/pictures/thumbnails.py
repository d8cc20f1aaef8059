"""Small pictures for lists: of one picture, and of each class of a data set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from workbench.core.specs import FilePart, Part
from workbench.core.training.split import random_order
from workbench.errors import PictureError
from workbench.pictures.decode import decode_reduced
from workbench.pictures.png import write_png

Pixels = np.ndarray[Any, np.dtype[np.uint8]]

_SHARPNESS = 3
"""A thumbnail is made from a picture at least this many times as large."""

_SEED = 7  # of the choice of pictures
_TRIES = 4
"""Unreadable files are passed over: this many times as many are tried before giving up."""


@dataclass(frozen=True)
class WrittenThumbnail:
    """A small image in a file, and which one of its part it is of.

    Attributes:
        path: The small image, PNG.
        index: Index of the image in its part.
        full_size: (height, width) of the image itself.
    """

    path: str
    index: int
    full_size: tuple[int, int]


def thumbnail(pixels: Pixels, size: int) -> Pixels:
    """The picture with its longer side at most `size` pixels, proportions kept.

    Smaller pictures stay as they are: they are scaled sharply where they are shown.
    """
    height, width = pixels.shape[:2]
    if max(height, width) <= size:
        return pixels
    scale = size / max(height, width)
    to = (max(1, round(width * scale)), max(1, round(height * scale)))
    is_gray = pixels.ndim == 3 and pixels.shape[2] == 1
    image = Image.fromarray(np.ascontiguousarray(pixels[:, :, 0] if is_gray else pixels))
    small = np.array(image.resize(to, Image.Resampling.LANCZOS, reducing_gap=2.0), dtype=np.uint8)
    return small[:, :, None] if is_gray else small


def part_picture(part: Part, index: int, *, side: int = 0) -> Pixels:
    """One picture of a part; raises PictureError.

    Decoded when it is still in a file, with sides of at least `side` (`decode_reduced`).
    """
    return _with_size(part, index, side)[0]


def _with_size(part: Part, index: int, side: int) -> tuple[Pixels, tuple[int, int]]:
    if isinstance(part, FilePart):
        decoded = decode_reduced(part.paths[index], side, value_range=part.value_range)
        return decoded.pixels, decoded.full_size
    pixels = np.asarray(part.pictures[index])
    return pixels, (pixels.shape[0], pixels.shape[1])


def write_thumbnails(
    part: Part,
    num_classes: int,
    folder: str | Path,
    *,
    per_class: int,
    size: int = 96,
) -> list[list[WrittenThumbnail]]:
    """Writes up to `per_class` thumbnails of each class 0 to num_classes - 1, always the same
    ones, as LABEL_NUMBER.png with a longer side of `size` pixels; unreadable pictures are passed
    over.

    Returns:
        Those of each class, in the order of the classes.
    """
    files: list[list[WrittenThumbnail]] = []
    for label in range(num_classes):
        found: list[WrittenThumbnail] = []
        members = np.flatnonzero(part.labels == label)
        for index in random_order(members, _SEED)[: per_class * _TRIES]:
            if len(found) == per_class:
                break
            try:
                pixels, full_size = _with_size(part, int(index), _SHARPNESS * size)
            except PictureError:
                continue  # the list of bad files names it; here another one will do
            path = Path(folder) / f"{label:03d}_{len(found):02d}.png"
            write_png(path, thumbnail(pixels, size))
            found.append(WrittenThumbnail(str(path), int(index), full_size))
        files.append(found)
    return files
