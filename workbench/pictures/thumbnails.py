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
from workbench.parts import HEIC
from workbench.pictures.png import write_png
from workbench.pictures.portable.decoding import (
    MAX_JPEG_PIXELS,
    MAX_PIXELS,
    Decoded,
    ImageError,
    decode,
    has_tga_end,
    read_file,
)

# decode --------------------------------------------------------------------------------------
# The one decoder: a picture file becomes upright 8-bit RGB pixels, or a PictureError.
#
# Used for training, thumbnails and classification alike. The rules are those of
# `workbench.pictures.portable`, which exported programs carry.

__all__ = ["MAX_JPEG_PIXELS", "MAX_PIXELS", "Decoded", "decode_picture", "decode_reduced"]

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def decode_picture(source: str | Path | bytes, *, where: str = "", value_range: str = "") -> Pixels:
    """The picture of a file, or of the bytes of one, at its full size, that of a JPEG file of more
    than MAX_PIXELS at a half or less: uint8 (height, width, 3), upright. Raises PictureError as
    `decode_reduced` does.
    """
    return decode_reduced(source, 0, where=where, value_range=value_range).pixels


def decode_reduced(
    source: str | Path | bytes, side: int, *, where: str = "", value_range: str = ""
) -> Decoded:
    """Decodes a picture that is needed small: large JPEG photos at 1/2, 1/4 or 1/8.

    A 12-megapixel photo takes a fifth of the time then.

    Args:
        source: A file, or the bytes of one.
        side: Both sides stay at least this long, in pixels; 0 for the full size.
        where: How messages name it; the path by default.
        value_range: Black and white of pictures of more than 8 bits (`FilePart.value_range`); ""
            for what fits the numbers of each.

    Raises:
        PictureError: whatever is wrong with it; names the file and the cause.
    """
    where = where or ("an unnamed image" if isinstance(source, bytes) else str(source))
    try:
        data = source if isinstance(source, bytes) else read_file(source)
        has_name = not isinstance(source, bytes) and Path(source).suffix.lower() == ".tga"
        is_tga = has_name or has_tga_end(data)
        return decode(data, side, is_tga=is_tga, value_range=value_range)
    except ImageError as error:
        part = HEIC if error.kind == "HEIC" else None
        raise PictureError(
            error.what,
            part=part.key if part is not None else "",
            where=where,
            received=error.received,
            expected=error.expected,
            fix=f"{part.install_words}, or save it as JPEG." if part is not None else error.fix,
        ) from None


# thumbnails ----------------------------------------------------------------------------------

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
