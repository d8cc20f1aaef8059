"""From an image file to the pixels that a network takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from workbench.pictures.portable.decoding import decode, has_tga_end, read_file

_GAP = 3
_LEAST_SIDE = 640
"""An image is also shown to people, who see this many pixels of it."""


def read_image(path: Any, shape: Any, fit: str = "crop", value_range: str = "") -> Any:
    """An image file as a network takes it.

    Args:
        path: Path of the file.
        shape: (height, width, 1 or 3) of the network's input.
        fit: How other proportions are brought to it: crop, stretch or pad.
        value_range: Black and white of images of more than 8 bits, e.g. "0-4095"; "" by their own
            numbers.

    Returns:
        uint8 pixels of `shape`.

    Raises:
        ImageError: it is no image that can be read.
    """
    data = read_file(path)
    is_tga = Path(path).suffix.lower() == ".tga" or has_tga_end(data)
    decoded = decode(
        data, side_to_decode(shape), is_tga=is_tga, value_range=value_range
    )
    return fitted(Image.fromarray(decoded.pixels), shape, fit)


def side_to_decode(shape: Any) -> int:
    """How long both sides of a decoded image must at least be to be fitted to `shape`."""
    return int(max(_LEAST_SIDE, _GAP * max(shape[:2])))


def fitted(image: Image.Image, shape: Any, fit: str) -> Any:
    """An image in the size and the channels of `shape`, uint8."""
    height, width, channels = shape
    mode = "L" if channels == 1 else "RGB"
    if image.mode != mode:
        image = image.convert(mode)
    if image.size != (width, height):
        image = (
            pad(image, width, height)
            if fit == "pad"
            else resize(image, width, height, fit)
        )
    return np.array(image, dtype=np.uint8).reshape(tuple(shape))


def resize(image: Image.Image, width: int, height: int, fit: str) -> Image.Image:
    """The image, or for the fit "crop" its center, in another size."""
    box = (0.0, 0.0, float(image.width), float(image.height))
    if fit == "crop":
        box = center(image.size, width / height)
    return image.resize(
        (width, height), Image.Resampling.BILINEAR, box=box, reducing_gap=3.0
    )


def center(size: tuple[int, int], aspect: float) -> tuple[float, float, float, float]:
    """The largest centered box with width / height = `aspect`, inside an image."""
    full_width, full_height = float(size[0]), float(size[1])
    width = min(full_width, full_height * aspect)
    height = min(full_height, full_width / aspect)
    left, top = (full_width - width) / 2, (full_height - height) / 2
    return left, top, min(left + width, full_width), min(top + height, full_height)


def pad(image: Image.Image, width: int, height: int) -> Image.Image:
    """All of the image in another size, with black beside it."""
    left, top, right, bottom = inner(image.size, width, height)
    size = (right - left, bottom - top)
    small = image.resize(size, Image.Resampling.BILINEAR, reducing_gap=3.0)
    padded = Image.new(image.mode, (width, height))
    padded.paste(small, (left, top))
    return padded


def inner(size: tuple[int, int], width: int, height: int) -> tuple[int, int, int, int]:
    """Box (left, top, right, bottom) of an image of a size (width, height) in a padded one."""
    scale = min(width / size[0], height / size[1])
    inner_width = min(width, max(1, round(size[0] * scale)))
    inner_height = min(height, max(1, round(size[1] * scale)))
    left, top = (width - inner_width) // 2, (height - inner_height) // 2
    return left, top, left + inner_width, top + inner_height
