"""The input pipeline's layers, run cheaply: moves as one warp, values as one multiply-add.

Keras's layers run one after another, each over all values of the batch. Here the layers
that are known become steps of one function, which XLA compiles to a few loops: 10 times
less processor time for a chain of seven (see tests/benchmarks). Other layers run as Keras
has them, in their place.

All randomness is a function of (seed, step, place in the batch), so that a run continued at
any step sees the images it would have seen; nothing is kept in the layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from workbench.core.specs import AffineTransform, Curve, Draw, IntensityTransform
from workbench.layers import layers_by_title
from workbench.worker.input.augment_warp import (
    Sampling,
    combined,
    warp_by_arithmetic,
    warp_by_operation,
)
from workbench.worker.process.lazy_keras import tf

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
