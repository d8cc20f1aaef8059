"""Layers that are adapted, as Normalization to mean and variance, before training: to the
images of the training part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from workbench.layers import layers_by_title
from workbench.pictures.prepare import PreparedPart
from workbench.worker.input.augment import through
from workbench.worker.model.build import BuiltModel
from workbench.worker.process.lazy_keras import keras, tf

_MOST_AT_ONCE = 256
_BATCH_BYTES = 32 * 2**20
"""Bytes of a batch as float32: large images come in smaller batches."""

Batches = Callable[[], Iterator[Any]]
Forward = Callable[[Any], Any]


def adapt_normalizations(
    strategy: Any, built: BuiltModel, part: PreparedPart, *, check: Callable[[], None]
) -> None:
    """Adapts every layer that its layer type says so of, from input to output.

    Args:
        strategy: The `tf.distribute` strategy in whose scope the model was made.
        built: Its pipeline layers and its model's layers are looked through.
        part: The training part: nothing is learned from the others.
        check: Called between batches; raises when the user has stopped it.
    """
    pipeline = [layer for _, layer in built.pipeline]
    adapt_pipeline(pipeline, part, check=check)
    for layer in built.model.layers:
        if is_adapted(layer):
            before = _device(strategy, keras.Model(built.model.input, layer.input))
            _adapt(layer, _batches(part, _after(_host(pipeline), before), check))


def adapt_pipeline(
    pipeline: Sequence[Any], part: PreparedPart, *, check: Callable[[], None]
) -> None:
    """Adapts the layers of the input pipeline alone; arguments as of `adapt_normalizations`."""
    for number, layer in enumerate(pipeline):
        if is_adapted(layer):
            _adapt(layer, _batches(part, _host(pipeline[:number]), check))


def is_adapted(layer: Any) -> bool:
    """Whether a layer is adapted to the training images."""
    spec = layers_by_title().get(type(layer).__name__)
    return spec is not None and spec.is_adapted


def _adapt(layer: Any, batches: Batches) -> None:
    shape = np.shape(next(batches()))[1:]
    signature = tf.TensorSpec((None, *shape), tf.float32)
    # Keras's own adapting mixes types in a layer that computes in bfloat16, and fails.
    twin = type(layer).from_config({**layer.get_config(), "dtype": "float32"})
    twin.adapt(tf.data.Dataset.from_generator(batches, output_signature=signature))
    for own, learned in zip(layer.weights, twin.weights, strict=True):
        own.assign(learned.numpy())
    layer.finalize_state()


def _host(layers: Sequence[Any]) -> Forward:
    """What the layers of the input pipeline give, computed on the processor."""
    return lambda pictures: through(pictures, layers, training=False)


def _after(first: Forward, second: Forward) -> Forward:
    return lambda pictures: second(first(pictures))


def _device(strategy: Any, model: Any) -> Forward:
    """What a part of the model gives, computed where the model is placed, as one function: Keras
    has some operations compiled for the processor that other builds of TensorFlow cannot compile.
    """

    def of_replica(pictures: Any) -> Any:
        return model(pictures, training=False)

    @tf.function(autograph=False)  # type: ignore[untyped-decorator]
    def compute(pictures: Any) -> Any:
        return strategy.run(of_replica, args=(pictures,))

    def forward(pictures: Any) -> Any:
        outputs = compute(tf.convert_to_tensor(pictures))
        return strategy.experimental_local_results(outputs)[0]  # all have computed the same

    return forward


def _batches(part: PreparedPart, forward: Forward, check: Callable[[], None]) -> Batches:
    """Makes iterators over float32 batches of what `forward` makes of the images."""
    picture_bytes = 4 * int(np.prod(part.x.shape[1:]))
    size = max(1, min(_MOST_AT_ONCE, _BATCH_BYTES // picture_bytes))

    def batches() -> Iterator[Any]:
        for start in range(0, len(part), size):
            check()
            pictures = np.asarray(part.x[start : start + size], np.float32)
            outputs = forward(pictures)
            yield tf.cast(outputs, tf.float32).numpy()

    return batches
