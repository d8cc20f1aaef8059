"""Processor time of the input pipeline per picture: Keras's layers as they are, and ours.

Processor time of all threads, not time on the clock: pipeline and training share the cores.
"""

from __future__ import annotations

import os
import statistics
import time
from functools import partial
from itertools import islice
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

from workbench.core.specs import Shape
from workbench.layers import all_layers
from workbench.pictures.prepare import PreparedPart
from workbench.templates import find_template
from workbench.worker.input.augment import through
from workbench.worker.input.pipeline import training_pipeline, whole_epochs
from workbench.worker.model.build import build_model

_ROUNDS = 3
_BATCHES_IN_MEMORY = 6


def main() -> None:
    """Prints the medians for templates of photos and of small pictures."""
    for template, steps in (("flowers_gap", 15), ("small_resnet", 40), ("cifar10_speedrun", 40)):
        project = find_template(template).project
        built = build_model(project.graph, all_layers(), seed=1)
        layers = [layer for _, layer in built.pipeline]
        batch_size = project.recipe.batch_size
        part = _part(batch_size * _BATCHES_IN_MEMORY, built.input_shape)
        variants: dict[str, Any] = {
            "Keras's layers": _as_keras_does(part, layers, batch_size),
            "ours, float32": _ours(part, layers, batch_size, dtype="float32"),
            "ours, bfloat16": _ours(part, layers, batch_size, dtype="bfloat16"),
        }
        spent: dict[str, list[float]] = {variant: [] for variant in variants}
        for _ in range(_ROUNDS):  # side by side: other programs disturb all alike
            for variant, dataset in variants.items():
                spent[variant].append(_microseconds(dataset, steps, batch_size))
        plain = statistics.median(spent["Keras's layers"])
        for variant, times in spent.items():
            median = statistics.median(times)
            print(
                f"{template}, batch {batch_size}, {variant}: {median:,.0f} us of processor a picture "
                f"({plain / median:.1f} x)",
                flush=True,
            )


def _part(count: int, shape: Shape) -> PreparedPart:
    pictures = np.random.default_rng(0).integers(0, 256, (count, *shape), dtype=np.uint8)
    return PreparedPart(pictures, np.arange(count) % 5)


def _ours(part: PreparedPart, layers: list[Any], batch_size: int, *, dtype: str) -> Any:
    order = partial(whole_epochs, len(part), batch_size, seed=1)
    return training_pipeline(
        part, order, layers, batch_size=batch_size, seed=1, dtype=dtype, place="memory"
    )


def _as_keras_does(part: PreparedPart, layers: list[Any], batch_size: int) -> Any:
    """The layers mapped over batches in memory, as Keras's documentation says."""
    pictures, labels = tf.constant(part.x), tf.constant(part.y)
    order = tf.constant(next(whole_epochs(len(part), batch_size, seed=1)))

    def make_batch(indices: Any) -> tuple[Any, Any]:
        chosen = tf.cast(tf.gather(pictures, indices), tf.float32)
        return through(chosen, layers, training=True), tf.gather(labels, indices)

    batches = tf.data.Dataset.from_tensor_slices(order).repeat()
    return batches.map(make_batch, num_parallel_calls=2, deterministic=True).prefetch(3)


def _microseconds(dataset: Any, steps: int, batch_size: int) -> float:
    batches = iter(dataset)
    for _ in islice(batches, 5):  # compiled, and the queue is full
        pass
    began = time.process_time()
    for _ in islice(batches, steps):
        pass
    return (time.process_time() - began) / (steps * batch_size) * 1e6


if __name__ == "__main__":
    main()
