"""Random erasing, mixup and CutMix of a batch, each a pure function of (seed, step).

Sources: Zhong et al., "Random Erasing Data Augmentation" (2020); Zhang et al., "mixup" (2018);
Yun et al., "CutMix" (2019). The partner of an image is the one before it in the batch: a
batch is in random order already.
"""

from __future__ import annotations

import math
from typing import Any

from workbench.core.training.recipe import TrainingRecipe
from workbench.worker.process.lazy_keras import tf

_AREA = (0.02, 0.33)
"""Erased part of an image."""

_ASPECT = (0.3, 3.3)
"""Height of the erased rectangle over its width."""

_FIRST_STREAM = 1 << 30
"""Away from the numbers that the augmenting layers draw from."""


def erase(pictures: Any, *, seed: int, step: Any, recipe: TrainingRecipe) -> Any:
    """Fills a random rectangle of some images with the image's mean color.

    Args:
        pictures: (batch, h, w, c) of any type, which is kept.
        seed: Seed of the recipe.
        step: Number of the batch, int64 ().
        recipe: Its `random_erasing` is the share of images.
    """
    draw = _Draws(seed, step, tf.shape(pictures)[0], _FIRST_STREAM)
    height, width = pictures.shape[1:3]
    area = draw(*_AREA) * (height * width)
    aspect = tf.exp(draw(math.log(_ASPECT[0]), math.log(_ASPECT[1])))
    sides = tf.sqrt(area * aspect), tf.sqrt(area / aspect)
    is_erased = draw() < recipe.random_erasing
    mask = _rectangles(draw, (height, width), sides) & is_erased[:, None, None]
    mean = tf.reduce_mean(tf.cast(pictures, tf.float32), axis=(1, 2), keepdims=True)
    return tf.where(mask[..., None], tf.cast(mean, pictures.dtype), pictures)


def mix(
    pictures: Any, labels: Any, *, seed: int, step: Any, recipe: TrainingRecipe, num_classes: int
) -> tuple[Any, Any]:
    """Mixes each image with another one of the batch, and their labels alike.

    Args:
        pictures: (batch, h, w, c).
        labels: int (batch,).
        seed: Seed of the recipe.
        step: Number of the batch, int64 ().
        recipe: Its `mixing` is not "none"; `mixing_alpha` is that of the Beta distribution.
        num_classes: Classes of the data set.

    Returns:
        Images (mixup makes uint8 float32, else the type is kept), and shares of classes,
        float32 (batch, classes).
    """
    draw = _Draws(seed, step, tf.shape(pictures)[0], _FIRST_STREAM + 100)
    own = _beta(draw, recipe.mixing_alpha)
    if recipe.mixing == "mixup":
        mixed = _faded(pictures, own)
    else:
        mixed, own = _cut(draw, pictures, own)
    one_hot = tf.one_hot(labels, num_classes)
    share = own[:, None]
    return mixed, one_hot * share + tf.roll(one_hot, 1, axis=0) * (1.0 - share)


def _faded(pictures: Any, own: Any) -> Any:
    if not pictures.dtype.is_floating:
        pictures = tf.cast(pictures, tf.float32)
    share = tf.cast(own, pictures.dtype)[:, None, None, None]
    return pictures * share + tf.roll(pictures, 1, axis=0) * (1 - share)


def _cut(draw: Any, pictures: Any, own: Any) -> tuple[Any, Any]:
    """Images with a piece of another, and the share that is still their own."""
    height, width = pictures.shape[1:3]
    side = tf.sqrt(1.0 - own)
    mask = _rectangles(draw, (height, width), (side * height, side * width))
    foreign = tf.reduce_mean(tf.cast(mask, tf.float32), axis=(1, 2))
    return tf.where(mask[..., None], tf.roll(pictures, 1, axis=0), pictures), 1.0 - foreign


def _rectangles(draw: Any, size: tuple[int, int], sides: tuple[Any, Any]) -> Any:
    """Masks, bool (batch, h, w): rectangles of given sides around random places, clipped."""
    inside = []
    for length, side in zip(size, sides, strict=True):
        center = draw() * length
        places = tf.range(length, dtype=tf.float32)[None] + 0.5
        inside.append(tf.abs(places - center[:, None]) < side[:, None] / 2)
    rows, columns = inside
    return rows[:, :, None] & columns[:, None, :]


def _beta(draw: Any, alpha: float) -> Any:
    """Beta(alpha, alpha), float32 (batch,), from two gammas."""
    a, b = draw.gamma(alpha), draw.gamma(alpha)
    # A small alpha gives numbers so near 0 that both can be 0: then one image is all.
    return tf.cast(tf.where(a + b > 0, a / tf.maximum(a + b, 1e-300), 1.0), tf.float32)


class _Draws:
    """Random numbers (batch,), each call a stream of its own."""

    def __init__(self, seed: int, step: Any, count: Any, first: int) -> None:
        self._seed = seed
        self._step = tf.cast(tf.cast(step, tf.int64) % 2**31, tf.int32)
        self._count = count
        self._next = first

    def __call__(self, low: float = 0.0, high: float = 1.0) -> Any:
        """Uniform from `low` to `high`, float32."""
        return tf.random.stateless_uniform((self._count,), self._key(), low, high)

    def gamma(self, alpha: float) -> Any:
        """Gamma-distributed, float64: float32 would be 0 too often for a small alpha."""
        shape = tf.constant(alpha, tf.float64)
        return tf.random.stateless_gamma((self._count,), self._key(), shape, dtype=tf.float64)

    def _key(self) -> Any:
        number = (self._seed + self._next) % 2**31
        self._next += 1
        return tf.stack([self._step, tf.constant(number, tf.int32)])
