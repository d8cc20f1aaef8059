"""Machines that share batches see exactly the batches of one."""

from __future__ import annotations

from functools import partial

import keras
import numpy as np
import pytest
import tensorflow as tf

from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.prepare import PreparedPart
from workbench.worker.input.augment import draws_one_by_one
from workbench.worker.input.pipeline import (
    WHOLE,
    Shard,
    evaluation_pipeline,
    training_pipeline,
    whole_epochs,
)

pytestmark = pytest.mark.worker

COUNT, BATCH = 25, 6


@pytest.fixture(scope="module")
def part():
    random = np.random.default_rng(4)
    return PreparedPart(
        random.integers(0, 256, (COUNT, 10, 12, 3), dtype=np.uint8), np.arange(COUNT) % 3
    )


class Noise(keras.layers.Layer):
    """An unknown layer, which draws for the whole batch at once."""

    def __init__(self):
        super().__init__()
        self.generator = keras.random.SeedGenerator(1)

    def call(self, inputs):
        pictures = tf.cast(inputs, tf.float32)
        return pictures + keras.random.normal(pictures.shape, seed=self.generator)


KNOWN = [
    keras.layers.RandomFlip("horizontal"), keras.layers.RandomRotation(0.1),
    keras.layers.RandomContrast(0.3), keras.layers.Rescaling(1 / 255),
]  # fmt: skip


@pytest.mark.parametrize(
    ("layers", "values"),
    [
        ([], {}),
        (KNOWN, {}),
        ([keras.layers.Resizing(6, 6), *KNOWN], {"xla": "off"}),
        (KNOWN, {"mixing": "mixup", "random_erasing": 0.5, "xla": "off"}),
        ([Noise(), *KNOWN], {"xla": "off"}),
    ],
    ids=["bytes", "known", "resized", "mixed", "unknown"],
)
def test_the_rows_of_all_machines_are_the_batches_of_one(part, layers, values):
    recipe, machines = TrainingRecipe().with_values(**values), 3

    def batches(share):
        dataset = training_pipeline(
            part, partial(whole_epochs, COUNT, BATCH, seed=6), layers,
            batch_size=BATCH, seed=6, recipe=recipe, num_classes=3, share=share
        )  # fmt: skip
        return [(x.numpy(), y.numpy()) for x, y in dataset.take(5)]

    whole = batches(WHOLE)
    shares = [batches(Shard(index, machines)) for index in range(machines)]
    for step, (pictures, labels) in enumerate(whole):
        assert len(pictures) == BATCH
        parts = [share[step] for share in shares]
        assert all(len(x) == BATCH // machines for x, _ in parts)
        np.testing.assert_array_equal(np.concatenate([y for _, y in parts]), labels)
        # XLA may add up in another order for another number of rows.
        np.testing.assert_allclose(np.concatenate([x for x, _ in parts]), pictures, atol=2e-4)


def test_only_what_needs_the_whole_batch_makes_all_of_it():
    assert draws_one_by_one([])
    assert draws_one_by_one([keras.layers.Resizing(6, 6), *KNOWN])
    assert not draws_one_by_one([Noise()])


def test_every_picture_is_evaluated_by_one_machine(part):
    def found(share):
        dataset = evaluation_pipeline(part, [], batch_size=BATCH, share=share)
        return [(x.numpy(), w.numpy()) for x, _, w in dataset]

    shares = [found(Shard(index, 3)) for index in range(3)]
    assert sum(int(weights.sum()) for share in shares for _, weights in share) == COUNT
    for step, (pictures, _) in enumerate(found(WHOLE)):
        parts = [share[step][0] for share in shares]
        np.testing.assert_array_equal(np.concatenate(parts), pictures)
