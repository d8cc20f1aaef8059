"""Thumbnails as JPEG, and heat maps over them."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from PIL import Image

SIDE = 224
"""Pixels of the longer side: sharp enough in print, and small as a file."""

_LEAST = 96
"""Smaller images are enlarged as sharp squares, as JPEG would blur single pixels."""

_QUALITY = 82
_STRENGTH = 0.55
_RAMP = np.array(
    [[48, 18, 59], [65, 125, 236], [32, 211, 178], [163, 253, 60], [249, 151, 34], [122, 4, 3]],
    np.float32,
)
"""Colors from cold to warm: of Turbo, by Google (Apache-2.0)."""

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def jpeg(pixels: Pixels) -> bytes:
    """An image uint8 (height, width, 1 or 3) as a small JPEG."""
    return _encoded(_sized(_image(pixels)))


def heat_jpeg(pixels: Pixels, heat: np.ndarray[Any, Any]) -> bytes:
    """The image with a heat map of 0..1 over it, of any height and width."""
    image = _sized(_image(pixels)).convert("L").convert("RGB")
    values = np.nan_to_num(np.asarray(heat, np.float32)).clip(0, 1)
    small = Image.fromarray(np.round(values * 255).astype(np.uint8))
    scaled = np.asarray(small.resize(image.size, Image.Resampling.BICUBIC), np.float32) / 255
    places = np.linspace(0, 1, len(_RAMP))
    colors = np.stack([np.interp(scaled, places, _RAMP[:, each]) for each in range(3)], axis=-1)
    mixed = np.asarray(image, np.float32) * (1 - _STRENGTH) + colors * _STRENGTH
    return _encoded(Image.fromarray(np.round(mixed).astype(np.uint8)))


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
