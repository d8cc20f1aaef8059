"""Reads an image's pixels at the places that a matrix gives.

Two ways with the same result but for rounding: plain arithmetic, which XLA makes one loop
of (5 times cheaper than TensorFlow's own operation, measured), and that operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.core.specs import Matrix
from workbench.worker.process.lazy_keras import tf


@dataclass(frozen=True)
class Sampling:
    """How values between pixels (bilinear, nearest) and outside the image (reflect, nearest,
    wrap, or constant with a value) are found, as Keras has them.
    """

    fill_mode: str
    interpolation: str
    fill_value: float = 0.0


def combined(matrices: Sequence[Matrix]) -> Matrix:
    """One matrix for moves done one after another, the first first."""
    result = matrices[0]
    for matrix in matrices[1:]:
        result = _product(result, matrix)
    return result


def _product(a: Matrix, b: Matrix) -> Matrix:
    def row(r: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        (b00, b01, b02), (b10, b11, b12) = b
        return (r[0] * b00 + r[1] * b10, r[0] * b01 + r[1] * b11, r[0] * b02 + r[1] * b12 + r[2])

    return row(a[0]), row(a[1])


def warp_by_arithmetic(pictures: Any, matrix: Matrix, sampling: Sampling) -> Any:
    """Moved images, float32 (batch, height, width, channels); for XLA.

    The images given are of any type, their shape is known; the matrix leads from places of the
    result to places of the source.
    """
    _, height, width, _ = pictures.shape
    y = tf.range(height, dtype=tf.float32)[None, :, None]
    x = tf.range(width, dtype=tf.float32)[None, None, :]
    (a, b, c), (d, e, f) = matrix
    from_x, from_y = a * x + b * y + c, d * x + e * y + f
    pixels = _reader(pictures, sampling)
    if sampling.interpolation == "nearest":
        return pixels(tf.floor(from_y + 0.5), tf.floor(from_x + 0.5))
    left, top = tf.floor(from_x), tf.floor(from_y)
    right_share, below_share = (from_x - left)[..., None], (from_y - top)[..., None]

    def line(at: Any) -> Any:
        return pixels(at, left) * (1 - right_share) + pixels(at, left + 1) * right_share

    return line(top) * (1 - below_share) + line(top + 1) * below_share


def _reader(pictures: Any, sampling: Sampling) -> Callable[[Any, Any], Any]:
    """Makes (y, x) of whole numbers (batch, height, width) -> float32 pixels there."""
    batch, height, width, channels = pictures.shape
    flat = tf.reshape(pictures, (batch * height * width, channels))
    first = (tf.range(batch) * (height * width))[:, None, None]
    inside = _INSIDE[sampling.fill_mode]

    def read(y: Any, x: Any) -> Any:
        y, x = tf.cast(y, tf.int32), tf.cast(x, tf.int32)
        in_y, in_x = inside(y, height), inside(x, width)
        values = tf.cast(tf.gather(flat, first + in_y * width + in_x), tf.float32)
        if sampling.fill_mode != "constant":
            return values
        is_inside = tf.logical_and(tf.equal(y, in_y), tf.equal(x, in_x))[..., None]
        return tf.where(is_inside, values, tf.constant(sampling.fill_value, tf.float32))

    return read


def _reflected(at: Any, length: int) -> Any:
    """Index of the source pixel, as in (d c b a | a b c d | d c b a)."""
    at = tf.math.floormod(at, 2 * length)
    return tf.minimum(at, 2 * length - 1 - at)


def _wrapped(at: Any, length: int) -> Any:
    """Index of the source pixel, as in (a b c d | a b c d | a b c d)."""
    return tf.math.floormod(at, length)


def _clamped(at: Any, length: int) -> Any:
    """Index of the source pixel, as in (a a a a | a b c d | d d d d)."""
    return tf.clip_by_value(at, 0, length - 1)


_INSIDE: dict[str, Callable[[Any, int], Any]] = {
    "reflect": _reflected,
    "wrap": _wrapped,
    "nearest": _clamped,
    "constant": _clamped,
}


def warp_by_operation(pictures: Any, matrix: Matrix, sampling: Sampling) -> Any:
    """The same by TensorFlow's operation, where XLA is not wanted."""
    batch, height, width, _ = pictures.shape
    entries = [*matrix[0], *matrix[1], 0.0, 0.0]
    columns = [tf.broadcast_to(tf.reshape(entry, (-1,)), (batch,)) for entry in entries]
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=tf.cast(pictures, tf.float32),
        transforms=tf.stack(columns, axis=1),
        output_shape=(height, width),
        fill_value=sampling.fill_value,
        interpolation=sampling.interpolation.upper(),
        fill_mode=sampling.fill_mode.upper(),
    )
