"""Thumbnails as JPEG, and heat maps over them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

from workbench.pictures.heat import Heat, heat_levels, overlaid

SIDE = 224
"""Pixels of the longer side: sharp enough in print, and small as a file."""

_LEAST = 96
"""Smaller images are enlarged as sharp squares, as JPEG would blur single pixels."""

_QUALITY = 82

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def jpeg(pixels: Pixels) -> bytes:
    """An image uint8 (height, width, 1 or 3) as a small JPEG."""
    return _encoded(_sized(_image(pixels)))


def heat_jpeg(pixels: Pixels, heat: Heat) -> bytes:
    """The image with a heat map of 0..1 over it, of any height and width."""
    image = _sized(_image(pixels))
    values = Image.fromarray(np.ascontiguousarray(heat, np.float32))
    scaled = np.asarray(values.resize(image.size, Image.Resampling.BILINEAR)).clip(0, 1)
    return _encoded(Image.fromarray(overlaid(np.asarray(image), heat_levels(scaled))))


def _image(pixels: Pixels) -> Image.Image:
    plain = pixels[:, :, 0] if pixels.shape[-1] == 1 else pixels
    return Image.fromarray(np.ascontiguousarray(plain)).convert("RGB")


def _sized(image: Image.Image) -> Image.Image:
    longest = max(image.size)
    if longest > SIDE:
        scale = SIDE / longest
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        return image.resize(size, Image.Resampling.LANCZOS)
    if longest < _LEAST:
        times = -(-_LEAST // longest)
        size = (image.width * times, image.height * times)
        return image.resize(size, Image.Resampling.NEAREST)
    return image


def _encoded(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=_QUALITY, optimize=True)
    return file.getvalue()
