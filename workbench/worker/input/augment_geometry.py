"""Where a moved picture takes its pixels from: random flips, turns, zooms and shifts as matrices.

A matrix (2 x 3) maps a place of the result, (x, y, 1) in pixels, to a place of the source, as
Keras's layers do. Layers one after the other multiply into one matrix, so a picture is
interpolated once: sharper than Keras's way, which interpolates once a layer, and a layer
never sees the gaps that the one before has filled.

Source of the matrices: keras.layers.RandomFlip, RandomRotation, RandomZoom and
RandomTranslation of Keras 3.15, whose attributes are read here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

Matrix = tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]
"""Entries are numbers, or tensors (batch, 1, 1)."""

Draw = Callable[[], Any]
"""Gives the next uniform numbers in [0, 1), one a picture: (batch, 1, 1)."""

Move = Callable[[Any, Any, Draw, int, int], Matrix]
"""(tf, layer, draw, height, width) -> the layer's matrix for each picture."""

_FLIPPED_BELOW = 0.5


def _flip(tf: Any, layer: Any, draw: Draw, height: int, width: int) -> Matrix:
    # One draw for both directions, as in Keras.
    sign = tf.where(draw() <= _FLIPPED_BELOW, -1.0, 1.0)
    is_wide, is_high = "horizontal" in layer.mode, "vertical" in layer.mode
    x, y = (sign if is_wide else 1.0), (sign if is_high else 1.0)
    return (x, 0.0, (1.0 - x) / 2 * (width - 1)), (0.0, y, (1.0 - y) / 2 * (height - 1))


def _rotation(tf: Any, layer: Any, draw: Draw, height: int, width: int) -> Matrix:
    low, high = layer.factor
    angle = between(draw(), low, high) * (2 * math.pi)
    cos, sin = tf.cos(angle), tf.sin(angle)
    x, y = (width - 1) / 2, (height - 1) / 2
    return (cos, -sin, x - cos * x + sin * y), (sin, cos, y - sin * x - cos * y)


def _zoom(tf: Any, layer: Any, draw: Draw, height: int, width: int) -> Matrix:
    del tf
    high = between(draw(), 1.0 + layer.height_lower, 1.0 + layer.height_upper)
    wide = high
    if layer.width_factor is not None:
        wide = between(draw(), 1.0 + layer.width_lower, 1.0 + layer.width_upper)
    x, y = (width - 1) / 2, (height - 1) / 2
    return (wide, 0.0, x * (1.0 - wide)), (0.0, high, y * (1.0 - high))


def _translation(tf: Any, layer: Any, draw: Draw, height: int, width: int) -> Matrix:
    del tf
    down = between(draw(), layer.height_lower, layer.height_upper) * height
    right = between(draw(), layer.width_lower, layer.width_upper) * width
    return (1.0, 0.0, -right), (0.0, 1.0, -down)


MOVES: dict[str, tuple[Move, int]] = {
    "RandomFlip": (_flip, 1),
    "RandomRotation": (_rotation, 1),
    "RandomZoom": (_zoom, 2),
    "RandomTranslation": (_translation, 2),
}
"""Keras's name of a layer -> its matrix, and how many numbers it draws a picture at most."""


def between(uniform: Any, low: float, high: float) -> Any:
    """Uniform numbers in [0, 1) as numbers in [low, high)."""
    return low + (high - low) * uniform


def combined(matrices: Sequence[Matrix]) -> Matrix:
    """One matrix for moves done one after the other, the first first."""
    result = matrices[0]
    for matrix in matrices[1:]:
        result = _product(result, matrix)
    return result


def _product(a: Matrix, b: Matrix) -> Matrix:
    def row(r: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        (b00, b01, b02), (b10, b11, b12) = b
        return (r[0] * b00 + r[1] * b10, r[0] * b01 + r[1] * b11, r[0] * b02 + r[1] * b12 + r[2])

    return row(a[0]), row(a[1])
