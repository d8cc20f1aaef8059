"""The input pipeline's layers, run cheaply: moves as one warp, values as one multiply-add.

Keras's layers run one after another, each over all values of the batch. Here the layers
that are known become steps of one function, which XLA compiles to a few loops: 10 times
less processor time for a chain of seven (see tests/benchmarks). Other layers run as Keras
has them, in their place.

All randomness is a function of (seed, step, place in the batch), so that a run continued at
any step sees the images it would have seen; nothing is kept in the layers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from workbench.core.specs import AffineTransform, Curve, Draw, IntensityTransform, Matrix
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import layers_by_title
from workbench.worker.process.lazy_keras import tf

# augment warp --------------------------------------------------------------------------------
# Reads an image's pixels at the places that a matrix gives.
#
# Two ways with the same result but for rounding: plain arithmetic, which XLA makes one loop
# of (5 times cheaper than TensorFlow's own operation, measured), and that operation.


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


# mixup ---------------------------------------------------------------------------------------
# Random erasing, mixup and CutMix of a batch, each a pure function of (seed, step).
#
# Sources: Zhong et al., "Random Erasing Data Augmentation" (2020); Zhang et al., "mixup" (2018);
# Yun et al., "CutMix" (2019). The partner of an image is the one before it in the batch: a
# batch is in random order already.

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


# augment -------------------------------------------------------------------------------------

_SEED_STRIDE = 4096

ALL_ROWS = slice(None)
"""The rows of a whole batch."""

Augmentation = Callable[[Any, Any], Any]
"""(images (batch, height, width, channels), step) -> images; shapes must be known."""


def augmentation(
    layers: Sequence[Any],
    *,
    seed: int,
    dtype: str = "float32",
    jit: bool = True,
    rows: slice = ALL_ROWS,
    batch_size: int = 0,
) -> Augmentation:
    """Makes the function that runs the layers in training.

    Args:
        layers: The Keras layers of the pipeline, in their order.
        seed: Start of the random numbers.
        dtype: Type of the images that are given back; where no layer runs, they stay as
            they are.
        jit: Compile with XLA; else TensorFlow's own operations, equal but for rounding.
        rows: Which rows of each batch it will be handed: they are changed as they would be
            within the whole batch. Other rows than all only where `draws_one_by_one`.
        batch_size: Rows of the whole batch, where it is handed some of them.
    """
    if not layers:
        return lambda pictures, step: pictures
    groups = [(known, tuple(group)) for known, group in groupby(layers, _is_known)]
    parts = []
    for number, (known, group) in enumerate(groups):
        is_last = number == len(groups) - 1
        out = dtype if is_last else "float32"
        first_seed = seed + number * _SEED_STRIDE
        if known:
            draw = _drawing(group, seed=first_seed, rows=rows, batch_size=batch_size)
            parts.append(_fused(group, draw, dtype=out, jit=jit))
        else:
            parts.append(_as_keras_has_them(group, seed=first_seed, dtype=out))

    def augment(pictures: Any, step: Any) -> Any:
        for part in parts:
            pictures = part(pictures, step)
        return pictures

    return augment


def _form(layer: Any) -> AffineTransform | IntensityTransform | None:
    """How a layer runs in one function with its neighbors; None for as Keras has it."""
    if not type(layer).__module__.startswith("keras."):
        return None  # another layer of the same name
    spec = layers_by_title().get(type(layer).__name__)
    return None if spec is None else spec.pipeline_form


def _is_known(layer: Any) -> bool:
    return _form(layer) is not None


def draws_one_by_one(layers: Sequence[Any]) -> bool:
    """True when the numbers for some rows of a batch can be drawn without the other rows."""
    return all(_is_known(one) or getattr(one, "generator", None) is None for one in layers)


def _drawing(
    layers: tuple[Any, ...], *, seed: int, rows: slice, batch_size: int
) -> Callable[[Any, Any], Any]:
    """(images, step) -> the random numbers of the known layers, (batch, numbers)."""
    count = max(sum(form.draws for layer in layers if (form := _form(layer))), 1)

    def draw(pictures: Any, step: Any) -> Any:
        size = pictures.shape[0] if rows == ALL_ROWS else batch_size
        return tf.random.stateless_uniform((size, count), _pair(seed, step))[rows]

    return draw


def _fused(
    layers: tuple[Any, ...], draws: Callable[[Any, Any], Any], *, dtype: str, jit: bool
) -> Augmentation:
    """The known layers `layers` as one function, with the numbers that `draws` gives."""
    warp = warp_by_arithmetic if jit else warp_by_operation

    def compute(pictures: Any, numbers: Any) -> Any:
        draw = _drawn(tf.unstack(numbers, axis=1))
        curve = Curve()
        for segment in _segments(layers):
            if isinstance(segment, list):
                pictures, curve = curve.of(tf, pictures), Curve()
                pictures = _moved(segment, draw, pictures, warp)
            else:
                layer, form = segment
                pictures, curve = form.curve(tf, layer, draw, pictures, curve)
        return tf.cast(curve.of(tf, pictures), dtype)

    compiled = tf.function(compute, autograph=False, jit_compile=True) if jit else compute

    return lambda pictures, step: compiled(pictures, draws(pictures, step))


def _drawn(columns: Sequence[Any]) -> Draw:
    """Hands out columns (batch,) as (batch, 1, 1), each once."""
    left = iter(columns)
    return lambda: next(left)[:, None, None]


_Move = tuple[Any, AffineTransform]


def _segments(layers: Sequence[Any]) -> Iterator[list[_Move] | tuple[Any, IntensityTransform]]:
    """Neighbors that can be done at once: moves that sample alike; or one layer of values."""
    moves: list[_Move] = []
    for layer in layers:
        form = _form(layer)
        is_move = isinstance(form, AffineTransform)
        if moves and not (is_move and _sampling([*(move for move, _ in moves), layer])):
            yield moves
            moves = []
        if isinstance(form, AffineTransform):
            moves.append((layer, form))
        elif form is not None:
            yield layer, form
    if moves:
        yield moves


def _sampling(layers: Sequence[Any]) -> Sampling | None:
    """How all of these moves sample; None when they differ. Some, as flips, need no sampling."""
    kinds = {
        Sampling(layer.fill_mode, layer.interpolation, float(layer.fill_value or 0.0))
        for layer in layers
        if hasattr(layer, "fill_mode")
    }
    if len(kinds) > 1:
        return None
    return kinds.pop() if kinds else Sampling("nearest", "nearest")


def _moved(moves: Sequence[_Move], draw: Draw, pictures: Any, warp: Callable[..., Any]) -> Any:
    _, height, width, _ = pictures.shape
    matrices = [form.matrix(tf, layer, draw, height, width) for layer, form in moves]
    return warp(pictures, combined(matrices), _sampling([layer for layer, _ in moves]))


def _as_keras_has_them(layers: tuple[Any, ...], *, seed: int, dtype: str) -> Augmentation:
    """Other layers: as Keras has them, but drawing from (seed, step) alone.

    Keras keeps a running state in each layer, so that with two batches in the making the
    numbers would depend on which is faster.
    """
    generators = [layer.generator for layer in layers if getattr(layer, "generator", None)]

    def augment(pictures: Any, step: Any) -> Any:
        calls = iter(range(_SEED_STRIDE))
        for generator in generators:
            generator.next = lambda ordered=True: _pair(seed + next(calls), step)
        try:
            return tf.cast(through(pictures, layers, training=True), dtype)
        finally:  # outside of training Keras draws too, where there is no such step
            for generator in generators:
                del generator.next

    return augment


def _pair(seed: int, step: Any) -> Any:
    """TensorFlow's seed of two numbers, int32 (2,)."""
    return tf.stack([tf.cast(step % 2**31, tf.int32), tf.constant(seed % 2**31, tf.int32)])


def outside_training(layers: Sequence[Any]) -> tuple[Any, ...]:
    """The layers without those that are known to change nothing but in training.

    Keras's would still turn every image into float32: four times the memory.
    """
    return tuple(layer for layer in layers if not ((form := _form(layer)) and form.draws))


def through(pictures: Any, layers: Sequence[Any], *, training: bool) -> Any:
    """Sends images through layers in turn; `training` switches the random ones on."""
    for layer in layers:
        if getattr(layer, "_call_has_training_arg", False):
            pictures = layer(pictures, training=training)
        else:
            pictures = layer(pictures)
    return pictures
