"""The values of channels as tiles: their statistics, their order, and their levels in one image."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from workbench.protocol.trained.feature_maps import BINS, Channel, Order

Values = np.ndarray[Any, np.dtype[np.float32]]
Levels = np.ndarray[Any, np.dtype[np.uint8]]

_MOST_PIXELS = 1_500_000
"""Pixels of all tiles together: larger maps are reduced, so that the image is written within
50 ms."""

_DIGITS = 6


@dataclass(frozen=True)
class Planes:
    """Channels of a layer, or filters, in the order in which they are shown.

    Attributes:
        values: float32 (height, width, n), or (height, width, 3, n) of filters in color.
        is_signed: 0 is in the middle of the levels, as of weights.
        channels: One for each of n.
    """

    values: Values
    is_signed: bool
    channels: list[Channel]

    @property
    def is_color(self) -> bool:
        """Whether they are in color."""
        return self.values.ndim == 4


def planes_of(values: Values, order: Order, most: int, *, is_signed: bool = False) -> Planes:
    """The strongest channels, or the first, of values as in `Planes`."""
    flat = values.reshape(-1, values.shape[-1])
    strength = np.abs(flat).mean(axis=0)
    indices = np.arange(flat.shape[1])
    if order == "strength":
        indices = np.argsort(-strength, kind="stable")
    indices = indices[:most]
    chosen = values[..., indices]
    return Planes(chosen, is_signed, _channels(flat[:, indices], indices, is_signed=is_signed))


def as_planes(output: Values) -> Values:
    """An output without the batch axis as (height, width, channels): a list of units is a list of
    channels of one place each.
    """
    if output.ndim == 1:
        return output[None, None]
    return output.reshape(-1, output.shape[-2], output.shape[-1])


def _channels(flat: Values, indices: np.ndarray[Any, Any], *, is_signed: bool) -> list[Channel]:
    low, high = flat.min(axis=0), flat.max(axis=0)
    most = np.maximum(np.abs(low), np.abs(high))
    bounds = (-most, most) if is_signed else (low, high)
    columns = {
        "least": low,
        "largest": high,
        "mean": flat.mean(axis=0, dtype=np.float64),
        "strength": np.abs(flat).mean(axis=0, dtype=np.float64),
        "zeros": (flat == 0).mean(axis=0),
        "low": bounds[0],
        "high": bounds[1],
    }
    short = {key: [_rounded(value) for value in column.tolist()] for key, column in columns.items()}
    counts = _histograms(flat, low, high)
    return [
        Channel(index=int(index), histogram=counts[at], **{key: short[key][at] for key in short})
        for at, index in enumerate(indices.tolist())
    ]


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _histograms(flat: Values, low: Values, high: Values) -> list[list[int]]:
    """The counts of each column in equal parts of its range."""
    size, count = flat.shape
    if size == 1:
        return [[] for _ in range(count)]
    # Of a range of nothing all values are in the first part.
    width = np.where(high > low, np.float64(high) - low, 1)
    parts = np.minimum((flat - low) / width * BINS, BINS - 1).astype(np.int64)
    places = parts + BINS * np.arange(count)
    found = np.bincount(places.ravel(), minlength=BINS * count)
    return found.reshape(count, BINS).tolist()


def tile_levels(planes: Planes) -> Levels:
    """The tiles of planes: uint8 (n, height, width), in color (n, height, width, 3)."""
    low = np.array([channel.low for channel in planes.channels], np.float32)
    high = np.array([channel.high for channel in planes.channels], np.float32)
    span = np.where(high > low, high - low, 1)
    scaled = ((planes.values - low) / span).clip(0, 1)
    if planes.is_signed:
        scaled = np.where(high > low, scaled, 0.5)  # all weights are 0: the middle
    tiles = np.moveaxis((255 * scaled).round().astype(np.uint8), -1, 0)
    scale = math.sqrt(_MOST_PIXELS / max(1, math.prod(tiles.shape[:3])))
    if scale >= 1:
        return np.ascontiguousarray(tiles)
    height, width = (max(1, int(side * scale)) for side in tiles.shape[1:3])
    return np.stack([_reduced(tile, height, width) for tile in tiles])


def _reduced(tile: Levels, height: int, width: int) -> Levels:
    image = Image.fromarray(np.ascontiguousarray(tile))
    return np.asarray(image.resize((width, height), Image.Resampling.BOX))


def columns_for(count: int) -> int:
    """Tiles in a row of an image of all of them."""
    return max(1, math.ceil(math.sqrt(count)))


def sheet(tiles: Levels, columns: int, *, gap: int = 0) -> Levels:
    """Tiles row by row in one image, with a gap of pixels of 255 between them."""
    count, height, width = tiles.shape[:3]
    rows = math.ceil(count / columns)
    size = rows * (height + gap) - gap, columns * (width + gap) - gap
    result = np.full((*size, *tiles.shape[3:]), 255 if gap else 0, np.uint8)
    for at, tile in enumerate(tiles):
        top, left = at // columns * (height + gap), at % columns * (width + gap)
        result[top : top + height, left : left + width] = tile
    return result
