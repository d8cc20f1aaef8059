"""Bringing a picture to the size and channels a network takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from workbench.core.specs import Shape
from workbench.errors import PictureError
from workbench.pictures.fits import FITS
from workbench.pictures.portable.fitting import center, fitted, inner, side_to_decode

__all__ = ["check_shape", "fit_picture", "fitted_boxes", "side_to_decode"]

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Box = tuple[int, int, int, int]
"""Left, top, right, bottom, in pixels."""


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
    check_shape(shape, fit)
    if pixels.dtype == np.uint8 and pixels.shape == tuple(shape):
        return np.array(pixels)
    made: Pixels = fitted(_image(pixels), shape, fit)
    return made


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
    if len(shape) != 3 or shape[2] not in {1, 3} or min(shape) < 1:
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


def fitted_boxes(size: tuple[int, int], target: tuple[int, int], fit: str) -> tuple[Box, Box]:
    """Which part of a picture a model gets, and where in the model's input that part is.

    Args:
        size: (width, height) of the picture.
        target: (width, height) of the input.
        fit: A key of fits.FITS.

    Returns:
        Boxes (left, top, right, bottom) in pixels of the picture and of the input.
    """
    picture, given = (0, 0, *size), (0, 0, *target)
    if fit == "pad":
        return picture, inner(size, *target)
    if fit == "crop":
        left, top, right, bottom = center(size, target[0] / target[1])
        x, y = int(left), int(top)  # a long picture may be cropped to less than a pixel of it
        return (x, y, max(x + 1, round(right)), max(y + 1, round(bottom))), given
    return picture, given
