"""Normalization layers learn mean and variance before training, from the training part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from workbench.pictures.prepare import PreparedPart
from workbench.worker.augment import through
from workbench.worker.build import BuiltModel

_MOST_AT_ONCE = 256
_BATCH_BYTES = 32 * 2**20
"""Of the pictures as float32: large pictures come in smaller batches."""

Batches = Callable[[], Iterator[Any]]


def adapt_normalizations(
    tf: Any, keras: Any, built: BuiltModel, part: PreparedPart, check: Callable[[], None]
) -> int:
    """Adapts every Normalization layer that was given no values, from input to output.

    Args:
        tf: TensorFlow.
        keras: Keras on it.
        built: Its pipeline layers and its model's layers are looked through.
        part: The training part: nothing is learned from the others.
        check: Called between batches; raises when the user has asked to stop.

    Returns:
        How many layers were adapted.
    """
    pipeline = [layer for _, layer in built.pipeline]
    count = 0
    for number, layer in enumerate(pipeline):
        if _wants_adapting(keras, layer):
            _adapt(tf, layer, _batches(keras, part, pipeline[:number], check))
            count += 1
    for layer in built.model.layers:
        if _wants_adapting(keras, layer):
            before = keras.Model(built.model.inputs, layer.input)
            _adapt(tf, layer, _batches(keras, part, [*pipeline, before], check))
            count += 1
    return count


def _wants_adapting(keras: Any, layer: Any) -> bool:
    return isinstance(layer, keras.layers.Normalization) and layer.input_mean is None


def _adapt(tf: Any, layer: Any, batches: Batches) -> None:
    shape = np.shape(next(batches()))[1:]
    signature = tf.TensorSpec((None, *shape), tf.float32)
    layer.adapt(tf.data.Dataset.from_generator(batches, output_signature=signature))


def _batches(
    keras: Any, part: PreparedPart, layers: Sequence[Any], check: Callable[[], None]
) -> Batches:
    """Makes iterators over float32 batches of what comes out of `layers`."""
    picture_bytes = 4 * int(np.prod(part.x.shape[1:]))
    size = max(1, min(_MOST_AT_ONCE, _BATCH_BYTES // picture_bytes))

    def batches() -> Iterator[Any]:
        for start in range(0, len(part), size):
            check()
            pictures = np.asarray(part.x[start : start + size], np.float32)
            outputs = through(pictures, layers, training=False)
            yield np.asarray(keras.ops.convert_to_numpy(outputs), np.float32)

    return batches
