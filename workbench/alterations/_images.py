"""Pixels as Pillow's images and back, and the color around a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def image_of(pixels: Pixels) -> Image.Image:
    """uint8 (height, width, 1 or 3) as an image."""
    return Image.fromarray(np.ascontiguousarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels))


def pixels_of(image: Image.Image) -> Pixels:
    """An image of mode L or RGB as uint8 (height, width, 1 or 3)."""
    pixels = np.array(image, np.uint8)
    return pixels[..., None] if pixels.ndim == 2 else pixels


def edge_color(pixels: Pixels) -> tuple[int, ...]:
    """The median color of the outermost pixels: fills what a turned picture leaves empty, so that
    no color appears there that the picture does not have.
    """
    edges = (pixels[0], pixels[-1], pixels[1:-1, 0], pixels[1:-1, -1])
    middle = np.median(np.concatenate(edges), axis=0)
    return tuple(int(value) for value in middle)
