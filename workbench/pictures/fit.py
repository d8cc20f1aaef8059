"""Bringing a picture to the size and channels a network takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from workbench.core.specs import Shape
from workbench.errors import PictureError
from workbench.pictures.fits import FITS

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Box = tuple[int, int, int, int]
"""Left, top, right, bottom, in pixels."""

_MODES = {1: "L", 3: "RGB"}


_GAP = 3
_LEAST_SIDE = 640
"""A picture is also shown to people, who see this many pixels of it."""


def side_to_decode(shape: Shape) -> int:
    """How long both sides of a decoded picture must at least be to be fitted to `shape`.

    Training and classifying both decode with it (`decode.decode_reduced`), so that a network
    classifies pixels like those it was trained on.
    """
    return max(_LEAST_SIDE, _GAP * max(shape[:2]))


def fit_picture(pixels: Pixels, shape: Shape, *, fit: str = "crop") -> Pixels:
    """Resizes a picture and changes its channels.

    Args:
        pixels: uint8 (height, width), (height, width, 1) or (height, width, 3).
        shape: (height, width, 1 or 3) to reach.
        fit: A key of fits.FITS.

    Returns:
        uint8 pixels of `shape`; unchanged values where nothing has to change.

    Raises:
        PictureError: pixels, shape or fit are none of the above.
    """
    height, width, mode = _wanted(shape, fit)
    if pixels.dtype == np.uint8 and pixels.shape == tuple(shape):
        return np.array(pixels)
    image = _image(pixels)
    if image.mode != mode:
        image = image.convert(mode)
    if image.size != (width, height):
        image = _pad(image, width, height) if fit == "pad" else _resize(image, width, height, fit)
    return np.array(image, dtype=np.uint8).reshape(shape)


def _image(pixels: Pixels) -> Image.Image:
    is_picture = pixels.dtype == np.uint8 and pixels.size > 0
    if is_picture and pixels.ndim == 3 and pixels.shape[2] == 1:
        return Image.fromarray(np.ascontiguousarray(pixels[:, :, 0]))
    if is_picture and (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] == 3)):
        return Image.fromarray(np.ascontiguousarray(pixels))
    raise PictureError(
        "These values are not an image.",
        received=f"{pixels.dtype} {pixels.shape}",
        expected="uint8 (height, width, 1 or 3)",
    )


def check_shape(shape: Shape, fit: str) -> None:
    """Raises PictureError when pictures cannot be brought to `shape` by `fit`."""
    _wanted(shape, fit)


def _wanted(shape: Shape, fit: str) -> tuple[int, int, str]:
    if len(shape) != 3 or shape[2] not in _MODES or min(shape) < 1:
        raise PictureError(
            "Images cannot be converted to this shape.",
            received=str(tuple(shape)),
            expected="(height, width, 1 or 3)",
            fix="Set the Input layer to one channel (grayscale) or three (color).",
        )
    if fit not in FITS:
        raise PictureError(
            "Images cannot be fitted this way.", received=fit, expected=", ".join(FITS)
        )
    return shape[0], shape[1], _MODES[shape[2]]


def _resize(image: Image.Image, width: int, height: int, fit: str) -> Image.Image:
    box = (0.0, 0.0, float(image.width), float(image.height))
    if fit == "crop":
        box = _center(image.size, width / height)
    return image.resize((width, height), Image.Resampling.BILINEAR, box=box, reducing_gap=3.0)


def _center(size: tuple[int, int], aspect: float) -> tuple[float, float, float, float]:
    """The largest centered box with width / height = `aspect`, inside the picture."""
    full_width, full_height = float(size[0]), float(size[1])
    width = min(full_width, full_height * aspect)
    height = min(full_height, full_width / aspect)
    left, top = (full_width - width) / 2, (full_height - height) / 2
    return left, top, min(left + width, full_width), min(top + height, full_height)


def _pad(image: Image.Image, width: int, height: int) -> Image.Image:
    left, top, right, bottom = _inner(image.size, width, height)
    size = (right - left, bottom - top)
    small = image.resize(size, Image.Resampling.BILINEAR, reducing_gap=3.0)
    padded = Image.new(image.mode, (width, height))
    padded.paste(small, (left, top))
    return padded


def _inner(size: tuple[int, int], width: int, height: int) -> Box:
    """Where a picture of a size (width, height) is in a padded one."""
    scale = min(width / size[0], height / size[1])
    inner_width = min(width, max(1, round(size[0] * scale)))
    inner_height = min(height, max(1, round(size[1] * scale)))
    left, top = (width - inner_width) // 2, (height - inner_height) // 2
    return left, top, left + inner_width, top + inner_height


def fitted_boxes(size: tuple[int, int], fitted: tuple[int, int], fit: str) -> tuple[Box, Box]:
    """Which part of a picture a model gets, and where in the model's input that part is.

    Args:
        size: (width, height) of the picture.
        fitted: (width, height) of the input.
        fit: A key of fits.FITS.

    Returns:
        Boxes (left, top, right, bottom) in pixels of the picture and of the input.
    """
    picture, given = (0, 0, *size), (0, 0, *fitted)
    if fit == "pad":
        return picture, _inner(size, *fitted)
    if fit == "crop":
        left, top, right, bottom = _center(size, fitted[0] / fitted[1])
        x, y = int(left), int(top)  # a long picture may be cropped to less than a pixel of it
        return (x, y, max(x + 1, round(right)), max(y + 1, round(bottom))), given
    return picture, given
