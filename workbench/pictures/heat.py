"""Heat maps over pictures: their colors, and their place on the whole picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from workbench.pictures.fit import fitted_boxes

Pixels = np.ndarray[Any, np.dtype[np.uint8]]
Heat = np.ndarray[Any, np.dtype[np.float32]]

_VIRIDIS = (
    (68, 1, 84),
    (71, 44, 122),
    (59, 81, 139),
    (44, 113, 142),
    (33, 144, 141),
    (39, 173, 129),
    (92, 200, 99),
    (170, 220, 50),
    (253, 231, 37),
)
"""Colors from cold to hot, in equal steps: also without seeing red and green, and in gray, brighter
is hotter (Smith and van der Walt 2015)."""

_DIVERGING = (
    (33, 102, 172),
    (103, 169, 207),
    (209, 229, 240),
    (247, 247, 247),
    (253, 219, 199),
    (239, 138, 98),
    (178, 24, 43),
)
"""Colors from negative to positive, in equal steps, 0 in the middle: also without seeing red and
green (ColorBrewer's RdBu, Brewer 2003)."""

OPACITY = 0.6
"""Default opacity of a map over its picture, 0..1: both can be recognized."""


def on_picture(heat: Heat, size: tuple[int, int], fit: str) -> Heat:
    """A map of what a model gets, over the picture that was fitted to it.

    Args:
        heat: float32 (h, w), 0..1.
        size: (height, width) of the picture, in any resolution.
        fit: How the picture was fitted, a key of fits.FITS.

    Returns:
        float32 of `size`, 0..1; NaN at places that the model does not get.
    """
    place, inner = fitted_boxes((size[1], size[0]), (heat.shape[1], heat.shape[0]), fit)
    left, top, right, bottom = place
    seen = Image.fromarray(np.ascontiguousarray(heat, np.float32)).crop(inner)
    values = seen.resize((right - left, bottom - top), Image.Resampling.BILINEAR)
    result = np.full(size, np.nan, np.float32)
    result[top:bottom, left:right] = np.asarray(values).clip(0, 1)
    return result


def heat_levels(heat: Heat) -> Pixels:
    """A map as uint8 of the same shape: 1 is coldest, 255 hottest, 0 is no value."""
    levels = 1 + 254 * np.nan_to_num(heat)
    return np.where(np.isnan(heat), 0, levels.round()).astype(np.uint8)


def heat_colors(levels: Pixels) -> Pixels:
    """The colors uint8 (..., 4) of levels of any shape, with alpha: 0 where there is no value."""
    return _TABLE[levels]


def weight_colors(levels: Pixels) -> Pixels:
    """The colors uint8 (..., 4) of weights as levels: at 127.5 they are 0, at 255 largest."""
    return _WEIGHTS[levels]


def overlaid(picture: Pixels, levels: Pixels, *, opacity: float = OPACITY) -> Pixels:
    """A picture with a map over it, both of one size, as uint8 (height, width, 3).

    Args:
        picture: uint8 (height, width), (height, width, 1) or (height, width, 3).
        levels: uint8 (height, width), as of `heat_levels`.
        opacity: Opacity of the map, 0..1.
    """
    base = picture[..., None] if picture.ndim == 2 else picture
    colors = heat_colors(levels)
    alpha = opacity * (colors[..., 3:] > 0)
    mixed = (1 - alpha) * base + alpha * colors[..., :3]
    return np.asarray(mixed.round(), np.uint8)


def _table(colors: tuple[tuple[int, int, int], ...], first: int) -> Pixels:
    """The colors of 256 levels, in equal steps from the first level to the last."""
    steps, places = np.linspace(first, 255, len(colors)), np.arange(256)
    channels = [np.interp(places, steps, column) for column in zip(*colors, strict=True)]
    table = np.stack([*channels, np.where(places < first, 0.0, 255.0)], axis=-1)
    return table.round().astype(np.uint8)


_TABLE = _table(_VIRIDIS, 1)
_WEIGHTS = _table(_DIVERGING, 0)
