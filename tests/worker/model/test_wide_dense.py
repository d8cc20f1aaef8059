"""The dense layer that computes scores in float32 from bfloat16, against Keras's own."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.worker.model.fast_layers import wide_dense

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def keras():
    import keras

    return keras


def trained(keras, cls, dtype, shape, **arguments):
    """Outputs, gradients of kernel and bias, and of the inputs, which are of `dtype`."""
    import tensorflow as tf

    keras.utils.set_random_seed(3)
    layer = cls(7, dtype="float32", **arguments)
    random = np.random.default_rng(5)
    x = tf.Variable(tf.cast(random.normal(size=shape).astype("float32"), dtype))
    layer.build(x.shape)
    weights = random.normal(size=(*shape[:-1], 7)).astype("float32")

    @tf.function(autograph=False)
    def step():
        with tf.GradientTape() as tape:
            y = layer(x)
            loss = tf.reduce_sum(y * weights)
        return y, *tape.gradient(loss, [*(v.value for v in layer.trainable_variables), x])

    *exact, of_inputs = step()
    assert all(value.dtype == tf.float32 for value in exact)
    assert of_inputs.dtype == x.dtype
    return [np.asarray(v) for v in exact], np.asarray(tf.cast(of_inputs, tf.float32))


@pytest.mark.parametrize("arguments", [{}, {"use_bias": False}, {"activation": "softmax"}])
@pytest.mark.parametrize("shape", [(32, 400), (4, 5, 40)])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_scores_and_gradients_of_weights_are_those_of_keras(keras, dtype, shape, arguments):
    own, own_inputs = trained(keras, wide_dense(), dtype, shape, **arguments)
    theirs, their_inputs = trained(keras, keras.layers.Dense, dtype, shape, **arguments)
    assert len(own) == len(theirs)
    for ours, kerass in zip(own, theirs, strict=True):
        np.testing.assert_allclose(ours, kerass, rtol=1e-6, atol=1e-6 * np.abs(kerass).max())
    error = np.linalg.norm(own_inputs - their_inputs) / np.linalg.norm(their_inputs)
    assert error <= (0.005 if dtype == "bfloat16" else 0)


def test_images_as_they_are(keras):
    x = np.random.default_rng(1).integers(0, 256, (8, 30)).astype("uint8")
    keras.utils.set_random_seed(3)
    own = np.asarray(wide_dense()(4)(x))
    keras.utils.set_random_seed(3)
    np.testing.assert_array_equal(own, np.asarray(keras.layers.Dense(4)(x.astype("float32"))))


def test_the_gradient_of_the_inputs_is_computed_in_bfloat16(keras):
    import tensorflow as tf

    layer = wide_dense()(4, dtype="float32")

    @tf.function(autograph=False)
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
        return tape.gradient(y, x)

    x = tf.ones((8, 30), tf.bfloat16)
    products = [
        op.outputs[0].dtype
        for op in gradient.get_concrete_function(x).graph.get_operations()
        if op.type == "MatMul" and op.outputs[0].shape == (8, 30)
    ]
    assert products == [tf.bfloat16]
