"""How a layer runs in the input pipeline in one function with its neighbors: as a matrix that
moves pixels, or as a curve that changes their values.

*Matrices* of layers one after another multiply into one, so an image is interpolated once:
sharper than Keras's way, which interpolates once a layer, and a layer never sees the gaps that
the one before has filled.

*Curves* change a value v to clip(scale * v + offset, low, high), with numbers of their own for
each image; one after another they make one of the same form, exactly: clipping twice is
clipping once, to the bounds clipped.

The arithmetic is in the files of the layers, which read the attributes that the layers of
Keras 3.15 have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

Matrix = tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]
"""From a place of the result, (x, y, 1) in pixels, to a place of the source, as in Keras's
layers (2 x 3). Entries are numbers, or tensors (batch, 1, 1)."""

Draw = Callable[[], Any]
"""Gives the next uniform numbers in [0, 1), one per image: (batch, 1, 1)."""

_ONE, _NONE = 1.0, 0.0


@dataclass(frozen=True)
class Curve:
    """v -> clip(scale * v + offset, low, high); None where nothing is clipped.

    Numbers, or tensors that broadcast over (batch, height, width, channels).
    """

    scale: Any = _ONE
    offset: Any = _NONE
    low: Any = None
    high: Any = None

    def then(self, scale: Any, offset: Any) -> Curve:
        """Composition of this curve with another multiply-add; `scale` is not negative."""
        return Curve(
            self.scale * scale,
            self.offset * scale + offset,
            None if self.low is None else self.low * scale + offset,
            None if self.high is None else self.high * scale + offset,
        )

    def then_clip(self, tf: Any, low: float, high: float) -> Curve:
        """The composition with a clip to [low, high]."""

        def within(bound: Any, otherwise: float) -> Any:
            return otherwise if bound is None else tf.clip_by_value(bound, low, high)

        return replace(self, low=within(self.low, low), high=within(self.high, high))

    def of(self, tf: Any, values: Any) -> Any:
        """The curve's values, float32."""
        values = tf.cast(values, tf.float32)
        if self.is_straight and self.scale is _ONE and self.offset is _NONE:
            return values
        values = values * self.scale + self.offset
        if self.low is not None:
            values = tf.maximum(values, self.low)
        return values if self.high is None else tf.minimum(values, self.high)

    @property
    def is_straight(self) -> bool:
        """True when nothing is clipped: means go through the curve as values do."""
        return self.low is None and self.high is None


@dataclass(frozen=True)
class AffineTransform:
    """A layer that moves pixels. One that draws does so in training only.

    Attributes:
        matrix: (tf, Keras's layer, draw, height, width) -> the matrix of each image.
        draws: How many random numbers it draws per image, at most.
    """

    matrix: Callable[[Any, Any, Draw, int, int], Matrix]
    draws: int


@dataclass(frozen=True)
class IntensityTransform:
    """A layer that changes values. One that draws does so in training only.

    Attributes:
        curve: (tf, Keras's layer, draw, images, curve so far) -> (images, curve with it).
        draws: How many random numbers it draws per image.
    """

    curve: Callable[[Any, Any, Draw, Any, Curve], tuple[Any, Curve]]
    draws: int = 0


def between(uniform: Any, low: float, high: float) -> Any:
    """Uniform numbers in [0, 1) as numbers in [low, high)."""
    return low + (high - low) * uniform
