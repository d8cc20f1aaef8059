"""Resizing an image as two products with constant matrices. Not a plug-in itself.

Each interpolation is a weighted sum of rows, and then of columns. The weights are those of
TensorFlow's kernels (resize_bilinear, resize_nearest_neighbor, resize_bicubic, resize_area and
scale_and_translate, all with half-pixel centers and without antialiasing).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from workbench.core.specs.layer import Array, OnnxLayer, OnnxValue

_KEYS_A = -0.5
_TABLE_STEPS = 1024
"""TensorFlow reads the bicubic weights from a table of so many steps a pixel."""

_TINY = 1e-3


def resized(
    layer: OnnxLayer, value: OnnxValue, height: int, width: int, interpolation: str
) -> OnnxValue:
    """An image in another size."""
    rows, columns, channels = value.shape
    name = layer.first(value)
    if height != rows:
        name = layer.op("MatMul", resize_matrix(rows, height, interpolation), name)
    if width != columns:
        turned = np.ascontiguousarray(resize_matrix(columns, width, interpolation).T)
        name = layer.op("MatMul", name, turned)
    return OnnxValue(name, (height, width, channels), is_channels_first=True)


def resize_matrix(old: int, new: int, interpolation: str) -> Array:
    """Weights (new, old), float32, that make `new` pixels of a line of `old` ones."""
    if interpolation.startswith("lanczos"):
        return _lanczos(old, new, int(interpolation.removeprefix("lanczos")))
    return _MATRICES[interpolation](old, new)


def _centers(old: int, new: int) -> Array:
    """Centers of the new pixels, in pixels of the old line, float32 (new,)."""
    return (np.arange(new, dtype=np.float32) + np.float32(0.5)) * np.float32(old / new)


def _nearest(old: int, new: int) -> Array:
    places = np.minimum(np.floor(_centers(old, new)).astype(int), old - 1)
    matrix: Array = np.eye(old, dtype=np.float32)[places]
    return matrix


def _bilinear(old: int, new: int) -> Array:
    places = _centers(old, new) - np.float32(0.5)
    below = np.floor(places)
    share = (places - below).astype(np.float32)
    matrix = np.zeros((new, old), np.float32)
    for row in range(new):
        low, high = max(0, int(below[row])), min(old - 1, int(below[row]) + 1)
        matrix[row, low] += 1 - share[row]
        matrix[row, high] += share[row]
    return matrix


def _bicubic(old: int, new: int) -> Array:
    places = _centers(old, new) - np.float32(0.5)
    matrix = np.zeros((new, old), np.float32)
    for row, place in enumerate(places):
        below = math.floor(place)
        step = round(float(place - np.float32(below)) * _TABLE_STEPS) / _TABLE_STEPS
        weights = (_far(1 + step), _near(step), _near(1 - step), _far(2 - step))
        for at, weight in enumerate(weights, below - 1):
            if 0 <= at < old:
                matrix[row, at] = weight
        matrix[row] /= matrix[row].sum()
    return matrix


def _near(x: float) -> float:
    return ((_KEYS_A + 2) * x - (_KEYS_A + 3)) * x * x + 1


def _far(x: float) -> float:
    return ((_KEYS_A * x - 5 * _KEYS_A) * x + 8 * _KEYS_A) * x - 4 * _KEYS_A


def _area(old: int, new: int) -> Array:
    """The mean of what a new pixel covers, as the kernel rounds it."""
    scale = np.float32(old) / np.float32(new)
    matrix = np.zeros((new, old), np.float32)
    for row in range(new):
        start, end = np.float32(row) * scale, np.float32(row + 1) * scale
        for at in range(math.floor(start), math.ceil(end)):
            begins, ends = at < start, at + 1 > end  # within this old pixel
            low, high = start if begins else at, end if ends else at + 1
            covered = scale if begins and ends else np.float32(high - low)
            matrix[row, min(at, old - 1)] += covered / scale
    return matrix


def _lanczos(old: int, new: int, radius: int) -> Array:
    """Weights of Lanczos resampling as TensorFlow's kernel computes them, float32 (new, old): where
    the sine is small, its weights depend on it.
    """
    scale = np.float32(1 / float(np.float32(new) / np.float32(old)))
    half = np.float32(0.5)
    matrix = np.zeros((new, old), np.float32)
    for row in range(new):
        place = (np.float32(row) + half) * scale
        first = max(0, math.ceil(place - radius - half))
        last = min(old - 1, math.floor(place + radius - half))
        at = np.arange(first, last + 1)
        weights = _windowed_sinc(np.abs(at.astype(np.float32) + half - place), radius)
        matrix[row, at] = weights / weights.sum()
    return matrix


def _windowed_sinc(x: Array, radius: int) -> Array:
    """0 at and beyond the radius, 1 in the middle."""
    turn = np.float32(math.pi) * np.maximum(x, np.float32(_TINY))
    inside = np.float32(radius) * np.sin(turn) * np.sin(turn / np.float32(radius)) / (turn * turn)
    return np.where(x <= _TINY, 1, np.where(x > radius, 0, inside)).astype(np.float32)


_MATRICES: dict[str, Callable[[int, int], Array]] = {
    "nearest": _nearest,
    "bilinear": _bilinear,
    "bicubic": _bicubic,
    "area": _area,
}
