"""The input pipeline's layers, run cheaply: moves as one warp, values as one multiply-add.

Keras's layers run one after the other, each over all values of the batch. Here the layers
that are known become steps of one function, which XLA compiles to a few loops: 10 times
less processor time for a chain of seven (see tests/benchmarks). Other layers run as Keras
has them, in their place.

All randomness is a function of (seed, step, place in the batch), so that a run continued at
any step sees the pictures it would have seen; nothing is kept in the layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from workbench.worker.input.augment_geometry import MOVES, Draw, combined
from workbench.worker.input.augment_values import BENDS, Curve
from workbench.worker.input.augment_warp import Sampling, warp_by_arithmetic, warp_by_operation

_SEED_STRIDE = 4096

ALL_ROWS = slice(None)
"""The rows of a whole batch."""

Augmentation = Callable[[Any, Any], Any]
"""(pictures (batch, height, width, channels), step) -> pictures; shapes must be known."""


def augmentation(
    tf: Any,
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
        tf: TensorFlow.
        layers: The Keras layers of the pipeline, in their order.
        seed: Start of the random numbers.
        dtype: Type of the pictures that are given back; where no layer runs, they stay as
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
            draw = _drawing(tf, group, seed=first_seed, rows=rows, batch_size=batch_size)
            parts.append(_fused(tf, group, draw, dtype=out, jit=jit))
        else:
            parts.append(_as_keras_has_them(tf, group, seed=first_seed, dtype=out))

    def augment(pictures: Any, step: Any) -> Any:
        for part in parts:
            pictures = part(pictures, step)
        return pictures

    return augment


def _is_known(layer: Any) -> bool:
    name = type(layer).__name__
    if not type(layer).__module__.startswith("keras."):
        return False  # somebody's own layer of the same name
    if name == "Rescaling" and not isinstance(layer.scale, int | float):
        return False  # Keras also takes one factor a channel
    return name in MOVES or name in BENDS


def draws_one_by_one(layers: Sequence[Any]) -> bool:
    """True when the numbers for some rows of a batch can be drawn without the other rows."""
    return all(_is_known(one) or getattr(one, "generator", None) is None for one in layers)


def _drawing(
    tf: Any, layers: tuple[Any, ...], *, seed: int, rows: slice, batch_size: int
) -> Callable[[Any, Any], Any]:
    """(pictures, step) -> the random numbers of the known layers, (batch, numbers)."""
    count = max(sum(_num_draws(layer) for layer in layers), 1)

    def draw(pictures: Any, step: Any) -> Any:
        size = pictures.shape[0] if rows == ALL_ROWS else batch_size
        return tf.random.stateless_uniform((size, count), _pair(tf, seed, step))[rows]

    return draw


def _fused(
    tf: Any, layers: tuple[Any, ...], draws: Callable[[Any, Any], Any], *, dtype: str, jit: bool
) -> Augmentation:
    """The known layers `layers` as one function, with the numbers that `draws` gives."""
    warp = warp_by_arithmetic if jit else warp_by_operation

    def compute(pictures: Any, numbers: Any) -> Any:
        draw = _drawn(tf.unstack(numbers, axis=1))
        curve = Curve()
        for is_move, members in _segments(layers):
            if is_move:
                pictures, curve = curve.of(tf, pictures), Curve()
                pictures = _moved(tf, members, draw, pictures, warp)
                continue
            for layer in members:
                bend = BENDS[type(layer).__name__][0]
                pictures, curve = bend(tf, layer, draw, pictures, curve)
        return tf.cast(curve.of(tf, pictures), dtype)

    compiled = tf.function(compute, autograph=False, jit_compile=True) if jit else compute

    return lambda pictures, step: compiled(pictures, draws(pictures, step))


def _num_draws(layer: Any) -> int:
    name = type(layer).__name__
    return (MOVES.get(name) or BENDS[name])[1]


def _drawn(columns: Sequence[Any]) -> Draw:
    """Hands out columns (batch,) as (batch, 1, 1), each once."""
    left = iter(columns)
    return lambda: next(left)[:, None, None]


def _segments(layers: Sequence[Any]) -> Iterator[tuple[bool, tuple[Any, ...]]]:
    """Neighbours that can be done at once: moves that sample alike, or layers of values."""
    for is_move, group in groupby(layers, lambda layer: type(layer).__name__ in MOVES):
        members = list(group)
        if not is_move:
            yield False, tuple(members)
            continue
        start = 0
        for end in range(1, len(members) + 1):
            if end == len(members) or _sampling(members[start : end + 1]) is None:
                yield True, tuple(members[start:end])
                start = end


def _sampling(members: Sequence[Any]) -> Sampling | None:
    """How all of these moves sample; None when they differ. Flips need no sampling."""
    kinds = {
        Sampling(layer.fill_mode, layer.interpolation, float(layer.fill_value or 0.0))
        for layer in members
        if type(layer).__name__ != "RandomFlip"
    }
    if len(kinds) > 1:
        return None
    return kinds.pop() if kinds else Sampling("nearest", "nearest")


def _moved(
    tf: Any, members: Sequence[Any], draw: Draw, pictures: Any, warp: Callable[..., Any]
) -> Any:
    _, height, width, _ = pictures.shape
    matrices = [MOVES[type(layer).__name__][0](tf, layer, draw, height, width) for layer in members]
    return warp(tf, pictures, combined(matrices), _sampling(members))


def _as_keras_has_them(tf: Any, layers: tuple[Any, ...], *, seed: int, dtype: str) -> Augmentation:
    """Other layers: as Keras has them, but drawing from (seed, step) alone.

    Keras keeps a running state in each layer, so that with two batches in the making the
    numbers would depend on which is faster.
    """
    generators = [getattr(layer, "generator", None) for layer in layers]

    def augment(pictures: Any, step: Any) -> Any:
        calls = iter(range(_SEED_STRIDE))
        for generator in generators:
            if generator is not None:
                generator.next = lambda ordered=True: _pair(tf, seed + next(calls), step)
        return tf.cast(through(pictures, layers, training=True), dtype)

    return augment


def _pair(tf: Any, seed: int, step: Any) -> Any:
    """TensorFlow's seed of two numbers, int32 (2,)."""
    return tf.stack([tf.cast(step % 2**31, tf.int32), tf.constant(seed % 2**31, tf.int32)])


def outside_training(layers: Sequence[Any]) -> tuple[Any, ...]:
    """The layers without those that are known to change nothing but in training.

    Keras's would still turn every picture into float32: four times the memory.
    """
    return tuple(
        layer
        for layer in layers
        if not (_is_known(layer) and type(layer).__name__.startswith("Random"))
    )


def through(pictures: Any, layers: Sequence[Any], *, training: bool) -> Any:
    """Sends pictures through layers in turn; `training` switches the random ones on."""
    for layer in layers:
        if getattr(layer, "_call_has_training_arg", False):
            pictures = layer(pictures, training=training)
        else:
            pictures = layer(pictures)
    return pictures
