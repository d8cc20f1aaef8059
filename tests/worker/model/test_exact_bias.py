"""The bias of our bfloat16 layers against Keras's in float32."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.layers import layers_by_title
from workbench.worker.model.fast_layers import EXACT_BIAS, needs_exact_bias, with_exact_bias

pytestmark = pytest.mark.worker

CLASSES = {title: spec.training_class for title, spec in layers_by_title().items()}
PICTURES = (64, 24, 24, 8)
ARGUMENTS = {
    "Conv2D": {"filters": 16, "kernel_size": 3, "padding": "same", "activation": "relu"},
    "Conv2DTranspose": {"filters": 16, "kernel_size": 3, "strides": 2},
    "DepthwiseConv2D": {"kernel_size": 3, "depth_multiplier": 2},
    "SeparableConv2D": {"filters": 16, "kernel_size": 3, "activation": "relu"},
    "Dense": {"units": 16},
}


@pytest.fixture(scope="module")
def keras():
    import keras

    return keras


def one_step(keras, cls, dtype, arguments):
    """The layer, its outputs and its gradients, all float32."""
    import tensorflow as tf

    keras.utils.set_random_seed(4)
    layer = cls(**arguments, dtype=dtype, name="layer")
    layer.build(PICTURES)
    random = np.random.default_rng(1)
    x = tf.cast(random.normal(0.5, 1, PICTURES), layer.compute_dtype)

    @tf.function(autograph=False)
    def step(upstream):
        with tf.GradientTape() as tape:
            y = layer(x, training=True)
            loss = tf.reduce_sum(tf.cast(y, tf.float32) * upstream)
        return y, tape.gradient(loss, [v.value for v in layer.trainable_variables])

    shape = layer.compute_output_shape(PICTURES)
    y, gradients = step(random.normal(0.3, 1, shape).astype("float32"))
    assert y.dtype == layer.compute_dtype
    return layer, np.asarray(tf.cast(y, tf.float32)), [np.asarray(g) for g in gradients]


@pytest.mark.parametrize("title", [key for key, own in CLASSES.items() if own in EXACT_BIAS])
@pytest.mark.parametrize("more", [{}, {"dilation_rate": (2, 2)}])
@pytest.mark.parametrize("is_chosen", [True, False])
def test_gradients_and_weights_are_those_of_keras_in_float32(keras, title, more, is_chosen):
    """Of our classes always, and of the class that the trainer uses for these arguments."""
    if more and title in {"Dense", "Conv2DTranspose"}:
        pytest.skip("has no dilation, or none with strides")
    arguments = {**ARGUMENTS[title], **more, "bias_initializer": "random_normal"}
    theirs, y, gradients = one_step(keras, getattr(keras.layers, title), "float32", arguments)
    own = with_exact_bias(title)
    if is_chosen and not needs_exact_bias(CLASSES[title], arguments):
        own = getattr(keras.layers, title)
    ours, own_y, own_gradients = one_step(keras, own, "mixed_bfloat16", arguments)
    assert [(w.name, w.shape) for w in ours.weights] == [(w.name, w.shape) for w in theirs.weights]
    for one, other in zip(ours.weights, theirs.weights, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    np.testing.assert_allclose(own_y, y, atol=0.02 * np.abs(y).max())
    for one, other in zip(own_gradients, gradients, strict=True):
        assert one.dtype == np.float32
        assert np.linalg.norm(one - other) < 0.02 * np.linalg.norm(other)


def test_only_what_needs_it_is_replaced():
    assert needs_exact_bias(CLASSES["Dense"], {"units": 3})
    assert needs_exact_bias(CLASSES["Conv2D"], {"groups": 2})
    assert needs_exact_bias(CLASSES["SeparableConv2D"], {"dilation_rate": (1, 2)})
    assert not needs_exact_bias(CLASSES["Dense"], {"units": 3, "use_bias": False})
    assert not needs_exact_bias(CLASSES["MaxPooling2D"], {})


def test_a_layer_without_bias_has_none(keras):
    layer = with_exact_bias("Conv2D")(4, 3, use_bias=False, dtype="mixed_bfloat16")
    layer.build(PICTURES)
    assert [w.name for w in layer.weights] == ["kernel"]


def test_penalties_and_starts_of_the_bias_are_kept(keras):
    cls = with_exact_bias("Dense")
    regularizer = {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.5}}
    layer = cls(3, bias_initializer="ones", bias_regularizer=regularizer, dtype="mixed_bfloat16")
    layer.build((None, 5))
    assert float(sum(layer.losses)) == pytest.approx(0.5 * 3)
