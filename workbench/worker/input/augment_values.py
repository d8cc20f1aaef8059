"""Random contrast and brightness, rescaling and normalisation as one multiply-add.

Each layer changes a value v of a picture to clip(scale * v + offset, low, high), with
numbers of its own for each picture; such layers one after the other make one of the same
form, exactly: clipping twice is clipping once, to the bounds clipped.

Source of the arithmetic: keras.layers.RandomContrast, RandomBrightness, Rescaling and
Normalization of Keras 3.15, whose attributes are read here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.worker.input.augment_geometry import Draw, between

_LEAST_DEVIATION = 1e-7  # Keras's epsilon
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
        """This curve, and then another multiply-add; `scale` is not negative."""
        return Curve(
            self.scale * scale,
            self.offset * scale + offset,
            None if self.low is None else self.low * scale + offset,
            None if self.high is None else self.high * scale + offset,
        )

    def clipped(self, tf: Any, low: float, high: float) -> Curve:
        """This curve, and then kept within low..high."""

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


Bend = Callable[[Any, Any, Draw, Any, Curve], tuple[Any, Curve]]
"""(tf, layer, draw, pictures, curve so far) -> (pictures, curve with the layer)."""


def _contrast(tf: Any, layer: Any, draw: Draw, pictures: Any, curve: Curve) -> tuple[Any, Curve]:
    if not curve.is_straight:
        pictures, curve = curve.of(tf, pictures), Curve()
    mean = tf.reduce_mean(tf.cast(pictures, tf.float32), axis=(1, 2), keepdims=True)
    mean = mean * curve.scale + curve.offset
    factor = between(draw()[..., None], 1.0 - layer.factor[0], 1.0 + layer.factor[1])
    curve = curve.then(factor, mean * (1.0 - factor))
    return pictures, curve.clipped(tf, *map(float, layer.value_range))


def _brightness(tf: Any, layer: Any, draw: Draw, pictures: Any, curve: Curve) -> tuple[Any, Curve]:
    low, high = map(float, layer.value_range)
    more = between(draw()[..., None], *layer.factor) * (high - low)
    return pictures, curve.then(1.0, more).clipped(tf, low, high)


def _rescaling(tf: Any, layer: Any, draw: Draw, pictures: Any, curve: Curve) -> tuple[Any, Curve]:
    del draw
    if layer.scale < 0:  # bounds would change places
        return Curve(layer.scale, layer.offset).of(tf, curve.of(tf, pictures)), Curve()
    return pictures, curve.then(float(layer.scale), float(layer.offset))


def _normalization(
    tf: Any, layer: Any, draw: Draw, pictures: Any, curve: Curve
) -> tuple[Any, Curve]:
    del tf, draw
    mean, variance = (np.asarray(value, np.float32) for value in (layer.mean, layer.variance))
    scale = 1 / np.maximum(np.sqrt(variance), np.float32(_LEAST_DEVIATION))
    return pictures, curve.then(scale, -mean * scale)


BENDS: dict[str, tuple[Bend, int]] = {
    "RandomContrast": (_contrast, 1),
    "RandomBrightness": (_brightness, 1),
    "Rescaling": (_rescaling, 0),
    "Normalization": (_normalization, 0),
}
"""Keras's name of a layer -> its curve, and how many numbers it draws a picture."""
