"""Layers that use what the layer before has computed, against Keras's own."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.specs import TrainingClass
from workbench.worker.model.fast_layers import fused_batch_normalization, linked_class

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def keras():
    import keras

    return keras


class Classes:
    """The classes to make a network of: ours, or Keras's."""

    def __init__(self, keras, *, is_own: bool) -> None:
        def of(training_class, kerass):
            return linked_class(training_class) if is_own else kerass

        self.conv = of(TrainingClass.LINKED_CONVOLUTION, keras.layers.Conv2D)
        self.pool = of(TrainingClass.LINKED_POOLING, keras.layers.MaxPooling2D)
        self.relu = of(TrainingClass.LINKED_RELU, keras.layers.ReLU)
        self.norm = fused_batch_normalization() if is_own else keras.layers.BatchNormalization


def conv_relu_pool(classes, x):
    return classes.pool(2)(classes.conv(6, 3, activation="relu")(x))


def conv_pool_relu(classes, x):
    return classes.relu()(classes.pool(2)(classes.conv(6, 3)(x)))


def conv_without_bias_relu_pool(classes, x):
    return classes.pool(2)(classes.relu()(classes.conv(6, 3, use_bias=False)(x)))


def overlapping_windows(classes, x):
    return classes.pool(3, strides=2, padding="same")(classes.conv(6, 3, activation="relu")(x))


def used_twice(classes, x):
    import keras

    y = classes.conv(6, 3, padding="same", activation="relu")(x)
    return keras.layers.Concatenate()([classes.pool(2)(y), classes.conv(4, 2, strides=2)(y)])


def limited_relu(classes, x):
    return classes.relu(max_value=0.5)(classes.pool(2)(classes.conv(6, 3)(x)))


def pooled_without_convolution(classes, x):
    return classes.relu()(classes.pool(2)(x))


CASES = (
    conv_relu_pool,
    conv_pool_relu,
    conv_without_bias_relu_pool,
    overlapping_windows,
    used_twice,
    limited_relu,
    pooled_without_convolution,
)


def make_model(keras, shape, make, *, is_own, dtype):
    """The network of a case, with an input of `shape` and repeatable weights."""
    keras.utils.set_random_seed(3)
    keras.config.set_dtype_policy(dtype)
    try:
        source = keras.Input(shape)
        model = keras.Model(source, make(Classes(keras, is_own=is_own), source))
    finally:
        keras.config.set_dtype_policy("float32")
    random = np.random.default_rng(4)
    model.set_weights([random.normal(0.2, 0.4, w.shape).astype("float32") for w in model.weights])
    return model


def graph_and_step(model, x):
    """(traced step, its outputs): outputs in training, gradients of all weights."""
    import tensorflow as tf

    weights = np.random.default_rng(6).normal(size=(len(x), *model.output_shape[1:]))
    weights = weights.astype("float32")

    @tf.function(autograph=False)
    def step(pictures):
        with tf.GradientTape() as tape:
            y = model(pictures, training=True)
            loss = tf.reduce_sum(tf.cast(y, tf.float32) * weights)
        return y, *tape.gradient(loss, [v.value for v in model.trainable_variables])

    outputs = step(tf.constant(x))
    arrays = [np.asarray(tf.cast(values, tf.float32)) for values in outputs]
    return step.get_concrete_function(tf.constant(x)), arrays


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
@pytest.mark.parametrize("make", CASES)
def test_same_outputs_and_gradients_as_keras_to_the_bit(keras, make, dtype):
    x = np.random.default_rng(1).normal(0, 1, (4, 14, 14, 3)).astype("float32")
    ours, theirs = (
        graph_and_step(make_model(keras, x.shape[1:], make, is_own=own, dtype=dtype), x)[1]
        for own in (True, False)
    )
    assert any(np.abs(values).max() > 0 for values in theirs[1:]) or len(theirs) == 1
    for own, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(own, other)


def needed_operations(function):
    """Types of the operations that the outputs of a traced function depend on."""
    seen, queue = {}, [tensor.op for tensor in function.outputs]
    while queue:
        operation = queue.pop()
        if operation.name not in seen:
            seen[operation.name] = operation.type
            queue += [tensor.op for tensor in operation.inputs]
    return list(seen.values())


def relu_gradient_sizes(function):
    operations = function.graph.get_operations()
    return [op.outputs[0].shape[1:].num_elements() for op in operations if op.type == "ReluGrad"]


@pytest.mark.parametrize("make", [conv_relu_pool, conv_pool_relu])
def test_relu_is_masked_behind_the_pooling(keras, make):
    x = np.random.default_rng(1).normal(0, 1, (4, 14, 14, 3)).astype("float32")
    model = make_model(keras, x.shape[1:], make, is_own=True, dtype="float32")
    function, _ = graph_and_step(model, x)
    assert relu_gradient_sizes(function) == [6 * 6 * 6]
    # Nothing is pooled or rectified twice.
    operations = needed_operations(function)
    assert operations.count("MaxPool") == operations.count("Relu") == 1


# normalized images ---------------------------------------------------------------------


def norm_conv(classes, x):
    return classes.conv(8, 3, padding="same", activation="relu")(classes.norm()(x))


def norm_conv_strided(classes, x):
    return classes.conv(8, 3, strides=2, use_bias=False)(classes.norm(center=False)(x))


def norm_conv_offset_only(classes, x):
    return classes.conv(8, 5, padding="same")(classes.norm(scale=False)(x))


def norm_grouped_conv(classes, x):
    return classes.conv(9, 3, groups=3)(classes.norm()(x))


def norm_used_twice(classes, x):
    import keras

    y = classes.norm()(x)
    return keras.layers.Concatenate()([classes.conv(4, 3, padding="same")(y), y])


NORM_CASES = (
    norm_conv,
    norm_conv_strided,
    norm_conv_offset_only,
    norm_grouped_conv,
    norm_used_twice,
)


def off_by(arrays, exact):
    """How far arrays are off, each by its largest value."""
    pairs = zip(arrays, exact, strict=True)
    return [np.abs(a - e).max() / np.abs(e).max() for a, e in pairs]


@pytest.mark.parametrize("make", NORM_CASES)
def test_normalized_images_are_trained_on_as_exactly_as_by_keras(keras, make):
    x = np.random.default_rng(2).integers(0, 256, (16, 12, 12, 3)).astype("float32")
    found = []
    for is_own, dtype in ((False, "float32"), (False, "mixed_bfloat16"), (True, "mixed_bfloat16")):
        model = make_model(keras, x.shape[1:], make, is_own=is_own, dtype=dtype)
        _, arrays = graph_and_step(model, x)
        found.append([*arrays, *(np.asarray(w) for w in model.non_trainable_weights)])
    exact, theirs, ours = found
    for own, other in zip(off_by(ours, exact), off_by(theirs, exact), strict=True):
        assert own <= max(1.5 * other, 0.004)


@pytest.mark.parametrize("make", [norm_conv, norm_conv_strided, norm_conv_offset_only])
def test_convolution_on_normalized_images_does_not_run_backward_to_them(keras, make):
    x = np.random.default_rng(2).integers(0, 256, (16, 12, 12, 3)).astype("float32")
    needed = {}
    for is_own in (True, False):
        model = make_model(keras, x.shape[1:], make, is_own=is_own, dtype="mixed_bfloat16")
        function, _ = graph_and_step(model, x)
        needed[is_own] = needed_operations(function)
    assert "Conv2DBackpropInput" in needed[False]
    assert not {"Conv2DBackpropInput", "FusedBatchNormGradV3"} & set(needed[True])


def test_statistics_of_images_far_from_zero(keras):
    x = np.random.default_rng(2).normal(4000, 2, (16, 12, 12, 3)).astype("float32")
    rounded = []
    for cls in (fused_batch_normalization(), keras.layers.BatchNormalization):
        layer = cls(momentum=0.0, dtype="mixed_bfloat16", autocast=False)
        layer(x, training=True)
        rounded.append([np.asarray(w) for w in layer.non_trainable_weights])
    exact = [x.mean(axis=(0, 1, 2), dtype="float64"), x.var(axis=(0, 1, 2), dtype="float64")]
    np.testing.assert_allclose(rounded[0][0], exact[0], rtol=1e-6)
    np.testing.assert_allclose(rounded[0][1], exact[1], rtol=1e-3)
