"""From prepared pictures to batches on the device: tf.data, and the layers that run in it.

Elements of a training pipeline: (pictures (batch, h, w, c), labels (batch,)); of an
evaluation pipeline also weights (batch,), 0 for the filling of the last batch. Pictures
stay uint8 where no layer runs in the pipeline: the step casts them on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from workbench.pictures.prepare import PreparedPart
from workbench.runs.outcome import memory_limit
from workbench.worker.order import Indices, padded_batches

_MEMORY_SHARE = 0.3
_PREFETCH = 3
_SEED_STRIDE = 4096


def fits_memory(part: PreparedPart) -> bool:
    """True when TensorFlow may hold a copy of all the pictures, and still have room to work."""
    limit = memory_limit()
    return not limit or part.x.nbytes < _MEMORY_SHARE * limit


def training_pipeline(
    tf: Any,
    part: PreparedPart,
    order: Callable[[], Iterator[Indices]],
    layers: Sequence[Any],
    *,
    batch_size: int,
    seed: int,
    start_step: int = 0,
) -> Any:
    """An endless dataset of augmented batches in the given order.

    Args:
        tf: TensorFlow.
        part: The training part.
        order: Makes an iterator of index blocks, int64 (steps, batch_size), from
            `start_step` on.
        layers: The Keras layers of the pipeline, in their order.
        batch_size: Pictures a step, over all replicas together.
        seed: Start of the augmentation's random numbers.
        start_step: Steps done before: the first batch is the one of this step.
    """
    blocks = tf.data.Dataset.from_generator(
        order, output_signature=tf.TensorSpec((None, batch_size), tf.int64)
    )
    numbered = tf.data.Dataset.zip((tf.data.Dataset.counter(start_step), blocks.unbatch()))
    gather = _gather(tf, part)
    augment = _augmenting(tf, layers, seed)

    def make_batch(step: Any, indices: Any) -> tuple[Any, Any]:
        pictures, labels = gather(indices)
        return augment(pictures, step), labels

    return _mapped(tf, numbered, make_batch)


def evaluation_pipeline(
    tf: Any, part: PreparedPart, layers: Sequence[Any], *, batch_size: int
) -> Any:
    """A dataset of all pictures once, in order; the last batch is filled up at weight 0."""
    batches = tf.data.Dataset.from_tensor_slices(padded_batches(len(part), batch_size))
    gather = _gather(tf, part)

    def make_batch(indices: Any, weights: Any) -> tuple[Any, Any, Any]:
        pictures, labels = gather(indices)
        return through(pictures, layers, training=False), labels, weights

    return _mapped(tf, batches, make_batch)


def _mapped(tf: Any, dataset: Any, function: Any) -> Any:
    options = tf.data.Options()
    options.deterministic = True  # the same seed gives the same curve
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    mapped = dataset.map(_plain(tf, function), num_parallel_calls=2, deterministic=True)
    return mapped.prefetch(_PREFETCH).with_options(options)


def _plain(tf: Any, function: Any) -> Any:
    """Keeps AutoGraph away: it needs source files, which a packed application has not."""
    return tf.autograph.experimental.do_not_convert(function)


def _gather(tf: Any, part: PreparedPart) -> Callable[[Any], tuple[Any, Any]]:
    """Makes indices (batch,) -> (uint8 pictures (batch, h, w, c), int64 labels (batch,))."""
    labels = tf.constant(part.y)
    if fits_memory(part):
        pictures = tf.constant(np.ascontiguousarray(part.x))
        return lambda indices: (tf.gather(pictures, indices), tf.gather(labels, indices))

    def read(indices: Indices) -> Any:
        return np.ascontiguousarray(part.x[indices])

    def gather(indices: Any) -> tuple[Any, Any]:
        batch = tf.numpy_function(read, [indices], tf.uint8)
        return tf.ensure_shape(batch, (indices.shape[0], *part.x.shape[1:])), tf.gather(
            labels, indices
        )

    return gather


def _augmenting(tf: Any, layers: Sequence[Any], seed: int) -> Callable[[Any, Any], Any]:
    """(pictures, step) -> pictures; random layers draw from (seed, step) alone.

    Keras keeps a running state in each layer, so that with two batches in the making the
    numbers would depend on which is faster.
    """
    generators = [getattr(layer, "generator", None) for layer in layers]

    def augment(pictures: Any, step: Any) -> Any:
        for number, generator in enumerate(generators):
            if generator is not None:
                generator.next = _draws(tf, step, seed=seed + number * _SEED_STRIDE)
        return through(pictures, layers, training=True)

    return augment


def _draws(tf: Any, step: Any, *, seed: int) -> Callable[..., Any]:
    calls = iter(range(_SEED_STRIDE))

    def draw(ordered: bool = True) -> Any:  # noqa: ARG001, FBT001, FBT002 - Keras's signature
        number = (seed + next(calls)) % 2**31
        return tf.stack([tf.cast(step % 2**31, tf.int32), tf.constant(number, tf.int32)])

    return draw


def through(pictures: Any, layers: Sequence[Any], *, training: bool) -> Any:
    """Sends pictures through layers in turn; `training` switches the random ones on."""
    for layer in layers:
        if getattr(layer, "_call_has_training_arg", False):
            pictures = layer(pictures, training=training)
        else:
            pictures = layer(pictures)
    return pictures
