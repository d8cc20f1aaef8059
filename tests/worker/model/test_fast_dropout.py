"""Our dropout against Keras's: the same rate, scale and gradient, drawn from bytes."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.worker.model.fast_layers import fast_dropout, threshold

pytestmark = pytest.mark.worker


def test_a_byte_decides_where_it_can():
    assert threshold(0.25) == (1, 64)
    assert threshold(0.5) == (1, 128)
    size, limit = threshold(0.3)
    assert size == 2
    assert limit / 65_536 == pytest.approx(0.3, abs=1e-5)
    assert threshold(0.999999) == (2, 65_535)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("rate", [0.25, 0.3, 0.9])
def test_it_drops_scales_and_passes_gradients_on(rate, dtype):
    import tensorflow as tf

    layer = fast_dropout()(rate, seed=5, dtype=dtype)
    ones = tf.ones((64, 333, 3), dtype)
    with tf.GradientTape() as tape:
        tape.watch(ones)
        dropped = layer(ones, training=True)
    gradient = tape.gradient(dropped, ones)
    values = np.asarray(tf.cast(dropped, tf.float32))
    share = np.mean(values == 0)
    assert share == pytest.approx(rate, abs=4 * np.sqrt(rate * (1 - rate) / values.size))
    assert np.unique(values).tolist() == pytest.approx([0, 1 / (1 - rate)], rel=0.01)
    assert np.array_equal(values, np.asarray(tf.cast(gradient, tf.float32)))
    # Neighbors and pictures are independent: no stripes from words that hold several bytes.
    assert abs(np.corrcoef(values[:, :-1].ravel(), values[:, 1:].ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(values[:-1].ravel(), values[1:].ravel())[0, 1]) < 0.02


def test_a_rate_next_to_one_is_no_fault():

    dropped = np.asarray(fast_dropout()(0.999999, seed=5)(np.ones((64, 64)), training=True))
    assert np.mean(dropped == 0) > 0.99


def test_it_draws_from_its_seed_and_goes_on():
    import numpy as np

    kind, ones = fast_dropout(), np.ones((4, 50), np.float32)
    first, second = kind(0.5, seed=3), kind(0.5, seed=3)
    one, two = np.asarray(first(ones, training=True)), np.asarray(first(ones, training=True))
    assert not np.array_equal(one, two)
    assert np.array_equal(one, np.asarray(second(ones, training=True)))
    assert np.array_equal(np.asarray(first(ones, training=False)), ones)
    assert np.array_equal(np.asarray(kind(0.0)(ones, training=True)), ones)
