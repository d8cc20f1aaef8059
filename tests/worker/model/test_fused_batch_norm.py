"""Our fused batch normalization against Keras's own."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.worker.model.fast_layers import fused_batch_normalization

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def keras():
    import keras

    return keras


def trained(cls, x, dtype, **arguments):
    """Output in training and predicting, gradients and weights after one step."""
    import tensorflow as tf

    layer = cls(dtype=dtype, name="norm", **arguments)
    layer.build(x.shape)
    rng = np.random.default_rng(5)
    layer.set_weights([rng.uniform(0.5, 1.5, w.shape).astype("float32") for w in layer.weights])
    x = tf.Variable(tf.cast(x, layer.compute_dtype))
    weights = np.random.default_rng(6).normal(size=x.shape).astype("float32")

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            y = layer(x, training=True)
            loss = tf.reduce_sum(tf.cast(y, tf.float32) * weights)
        return y, tape.gradient(loss, [x, *(v.value for v in layer.trainable_variables)])

    y, gradients = step()
    predicted = layer(x, training=False)
    assert y.dtype == predicted.dtype == layer.compute_dtype
    arrays = [y, *gradients, *layer.weights, predicted]
    assert all(w.dtype == "float32" for w in layer.weights)
    return [np.asarray(tf.cast(a, tf.float32)) for a in arrays]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-5), ("mixed_bfloat16", 0.02)])
@pytest.mark.parametrize("shape", [(8, 6, 5, 16), (8, 7, 7, 3), (16, 32), (16, 5)])
@pytest.mark.parametrize(
    "arguments", [{}, {"center": False, "momentum": 0.9}, {"scale": False, "epsilon": 0.01}]
)
def test_same_outputs_gradients_and_statistics_as_keras(keras, dtype, tolerance, shape, arguments):
    x = np.random.default_rng(1).normal(1, 2, shape).astype("float32")
    own = trained(fused_batch_normalization(), x, dtype, **arguments)
    theirs = trained(keras.layers.BatchNormalization, x, dtype, **arguments)
    assert len(own) == len(theirs)
    for ours, kerass in zip(own, theirs, strict=True):
        scale = np.abs(kerass).max()
        np.testing.assert_allclose(ours, kerass, atol=tolerance * scale)
