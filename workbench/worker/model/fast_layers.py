"""Faster and more exact variants of Keras layers, as the trainer builds networks with them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from workbench.core.specs import TrainingClass
from workbench.worker.process.lazy_keras import keras, tf

# synced batch norm ---------------------------------------------------------------------------
# Batch normalization on several replicas, each of which gets its part of the batch only.
#
# *Synchronized*, all replicas normalize by the statistics of the whole batch: the same figures as
# one device, for communication between the replicas at each layer. *Not synchronized*, each uses
# its own part, and the running statistics are averaged over the replicas after each step: every
# replica then holds the same values, so what is validated, checkpointed and exported agree.


def synchronize(model: Any, *, is_on: bool) -> None:
    """Sets for all batch normalizations of a model not yet traced whether they go by the whole
    batch.
    """
    for layer in _normalizations(model):
        layer.synchronized = is_on


def drifting_statistics(model: Any) -> list[Any]:
    """The variables that a step moves differently on each replica: running means and
    variances of what is not synchronized.
    """
    return [
        variable
        for layer in _normalizations(model)
        if not layer.synchronized
        for variable in layer.non_trainable_variables
    ]


def _normalizations(model: Any) -> list[Any]:
    kind = keras.layers.BatchNormalization
    return [layer for layer in model.layers if isinstance(layer, kind)]


def average_over_replicas(variables: list[Any]) -> None:
    """Gives variables the mean of what the replicas hold; call within a replica's step."""
    if not variables:
        return
    context = tf.distribute.get_replica_context()
    values = [tf.convert_to_tensor(variable) for variable in variables]
    means = context.all_reduce(tf.distribute.ReduceOp.MEAN, values)
    for variable, mean in zip(variables, means, strict=True):
        variable.assign(mean)


def moments_of_all_replicas(values: Any) -> tuple[Any, Any]:
    """Mean and variance of the values of all replicas over all axes but the last; call within
    a replica's step.

    Each replica must have equally many. The moments of the parts are put together (Chan,
    Golub and LeVeque, 1979): unlike a mean of squares less a squared mean, that keeps its
    digits where the mean is far from zero. From float32 (batch, ..., channels) to float32
    (channels,) twice.
    """
    context = tf.distribute.get_replica_context()
    own_mean, own_variance = tf.nn.moments(values, axes=list(range(len(values.shape) - 1)))
    mean_op = tf.distribute.ReduceOp.MEAN
    mean = context.all_reduce(mean_op, own_mean)
    variance = context.all_reduce(mean_op, own_variance + tf.square(own_mean - mean))
    return mean, variance


# normalized images ---------------------------------------------------------------------------
# Images that a BatchNormalization has normalized, for the convolution that takes them.
#
# The images themselves learn nothing, so of the gradient of the normalized ones only two sums per
# channel are ever needed, for scale and offset; and to get it the whole convolution had to run
# backward. Here scale and offset are factors of the convolution's kernel instead: of images with
# mean 0 and variance 1, and of a channel of ones that brings the offset, which like the image ends
# at the borders. Their gradients come out of the kernel's.

_MOST_CHANNELS = 4
"""More than that are no images: what comes from another layer needs its gradient anyway."""

_NORMALIZED = "_workbench_normalized"
"""Attribute of the output tensor of a normalization: its `NormalizedImages`."""


@dataclass(frozen=True)
class NormalizedImages:
    """Images before scale and offset.

    Attributes:
        values: (n, h, w, channels + 1); each channel has mean 0 and variance 1 over the batch,
            the last one is all ones.
        scale, offset: float32 (channels,).
    """

    values: Any
    scale: Any
    offset: Any

    def taken_in(self, kernel: Any) -> Any:
        """A kernel, float32 (h, w, channels, filters), for `values`: it gives what the kernel gives
        for the images with scale and offset.
        """
        ones = tf.reduce_sum(kernel * self.offset[:, tf.newaxis], axis=2, keepdims=True)
        scaled = kernel * self.scale[:, tf.newaxis]
        return tf.cast(tf.concat([scaled, ones], axis=2), self.values.dtype)


def are_images(inputs: Any) -> bool:
    """Whether a layer's inputs are (n, h, w, channels) of known sides with an image's channels."""
    shape = inputs.shape
    return len(shape) == 4 and shape[1:].is_fully_defined() and shape[-1] <= _MOST_CHANNELS


def normalize(images: Any, epsilon: float) -> tuple[Any, Any, Any]:
    """(normalized images, their mean, their variance over the batch); the latter (channels,).

    All float32, as the images.
    """
    height, width, channels = images.shape[1:]
    # In rows that are whole images the processor works on many values at once.
    rows = tf.reshape(images, [-1, height * width * channels])
    mean = _mean(rows, channels)
    rows -= _repeated(mean, height * width)
    variance = _mean(tf.square(rows), channels)
    rows *= _repeated(tf.math.rsqrt(variance + epsilon), height * width)
    return tf.reshape(rows, [-1, height, width, channels]), mean, variance


def offer(outputs: Any, normalized: Any, scale: Any, offset: Any) -> None:
    """Lets a convolution that takes these outputs of a normalization find what they are made of;
    `normalized` as of `normalize`.
    """
    values = tf.cast(normalized, outputs.dtype)
    values = tf.concat([values, tf.ones_like(values[..., :1])], axis=-1)
    setattr(outputs, _NORMALIZED, NormalizedImages(values, scale, offset))


def normalized_before(inputs: Any) -> NormalizedImages | None:
    """What was offered with a layer's inputs; None for nothing."""
    found: NormalizedImages | None = getattr(inputs, _NORMALIZED, None)
    return found


def _mean(rows: Any, channels: int) -> Any:
    return tf.reduce_mean(tf.reshape(tf.reduce_mean(rows, axis=0), [-1, channels]), axis=0)


def _repeated(values: Any, places: int) -> Any:
    return tf.tile(values, [places])


# fused batch norm ----------------------------------------------------------------------------
# Batch normalization in one operation: same weights and results as Keras's, several times
# faster in bfloat16.
#
# Keras's own layer casts bfloat16 to float32 and back and goes over the image in a dozen
# operations. TensorFlow's fused one (`FusedBatchNormV3`) reads and writes bfloat16 and keeps
# scale, offset and statistics in float32. Forward and backward through 16 x 16 x 64 in bfloat16
# took 65 microseconds of processor time per image instead of 255.
#
# Only the trainer uses it. What is exported is built of Keras's own layers.

_PICTURES = 4  # axes of a batch of images
_VECTORS = 2

_VECTOR_LANES = 16
"""In bfloat16 the operation is fast for whole vectors of channels only, and three times slower
than Keras's for others; those go through float32."""


@cache
def fused_batch_normalization() -> Any:
    """The class to use in place of `keras.layers.BatchNormalization`."""

    class FusedBatchNormalization(keras.layers.BatchNormalization):  # type: ignore[misc]
        """`keras.layers.BatchNormalization` over the last axis, computed in one operation."""

        def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
            rank = len(inputs.shape)
            is_training = bool(training and self.trainable)
            # The operation computes its statistics from its inputs alone.
            needs_others = is_training and self.synchronized
            if mask is not None or rank not in {_VECTORS, _PICTURES} or needs_others:
                return super().call(inputs, training=training, mask=mask)
            is_whole = inputs.shape[-1] % _VECTOR_LANES == 0
            inputs = tf.cast(inputs, self.compute_dtype if is_whole else tf.float32)
            pictures = inputs if rank == _PICTURES else inputs[:, tf.newaxis, tf.newaxis, :]
            scale, offset = _affine(self)
            y, mean, variance = _normalized(self, pictures, scale, offset, is_training=is_training)
            y = tf.cast(y, self.compute_dtype)
            if is_training and self.compute_dtype != "float32" and are_images(inputs):
                normalized, mean, variance = normalize(inputs, self.epsilon)
                offer(y, normalized, scale, offset)
            if is_training:
                self._follow(mean, variance)
            return y if rank == _PICTURES else y[:, 0, 0, :]

        def _moments(self, inputs: Any, mask: Any) -> tuple[Any, Any]:
            if self.synchronized and mask is None:
                return moments_of_all_replicas(inputs)
            mean, variance = super()._moments(inputs, mask)
            return mean, variance

        def _follow(self, mean: Any, variance: Any) -> None:
            """Moves the running mean and variance towards the batch's."""
            for running, value in (
                (self.moving_mean, mean),
                (self.moving_variance, variance),
            ):
                running.assign(running * self.momentum + value * (1 - self.momentum))

    return FusedBatchNormalization


def _affine(layer: Any) -> tuple[Any, Any]:
    """Scale and offset, float32 (channels,)."""
    ones = tf.ones_like(layer.moving_mean)
    scale = tf.convert_to_tensor(layer.gamma) if layer.scale else ones
    return scale, tf.convert_to_tensor(layer.beta) if layer.center else tf.zeros_like(ones)


def _normalized(
    layer: Any, pictures: Any, scale: Any, offset: Any, *, is_training: bool
) -> tuple[Any, Any, Any]:
    """The outputs; in training also mean and variance of the batch."""
    result = tf.raw_ops.FusedBatchNormV3(
        x=pictures,
        scale=scale,
        offset=offset,
        mean=[] if is_training else tf.convert_to_tensor(layer.moving_mean),
        variance=[] if is_training else tf.convert_to_tensor(layer.moving_variance),
        epsilon=layer.epsilon,
        is_training=is_training,
    )
    # The operation divides by one value less than there are; Keras by all of them.
    count = tf.cast(tf.reduce_prod(tf.shape(pictures)[:-1]), tf.float32)
    variance = result.batch_variance * (tf.maximum(count - 1, 1) / count)
    return result.y, result.batch_mean, variance


# exact bias ----------------------------------------------------------------------------------
# Layers whose bias learns in bfloat16 too: its gradient is added up in float32.
#
# TensorFlow's own gradient of a bias (`BiasAddGrad`) adds bfloat16 numbers up in bfloat16 on a
# CPU. Over a batch of images that is thousands of values into one, and a sum stops growing at
# 256 times the values' size: over 128 images of 48 x 48 it was off by 97%. The sum here is
# off by 0.01%, in a third of the time.
#
# Plain convolutions are spared where oneDNN is at work: it computes the gradients of kernel and
# bias at once, and right.
#
# Only the trainer uses these layers. What is exported is built of Keras's own.

_WITHOUT_ONEDNN = frozenset(
    {TrainingClass.EXACT_BIAS_WITHOUT_ONEDNN, TrainingClass.LINKED_CONVOLUTION}
)
EXACT_BIAS = _WITHOUT_ONEDNN | {TrainingClass.EXACT_BIAS, TrainingClass.DENSE}


def needs_exact_bias(training_class: TrainingClass | None, arguments: Mapping[str, Any]) -> bool:
    """True for a layer whose bias Keras and TensorFlow would not train right in bfloat16, by the
    training class of its type and what it is made with.
    """
    if training_class not in EXACT_BIAS or not arguments.get("use_bias", True):
        return False
    is_plain = max(arguments.get("dilation_rate", (1, 1))) == 1 == arguments.get("groups", 1)
    has_onednn = platform.machine().lower() in {"x86_64", "amd64"}
    has_onednn &= os.environ.get("TF_ENABLE_ONEDNN_OPTS") != "0"
    return not (training_class in _WITHOUT_ONEDNN and is_plain and has_onednn)


@cache
def with_exact_bias(title: str) -> Any:
    """The class to use in place of `keras.layers.<title>`, which adds a bias.

    Weights have the same names, shapes, order and start.
    """
    base = getattr(keras.layers, title)

    class ExactBias(base):  # type: ignore[misc, valid-type]
        """Keras's layer without its bias and activation; both follow here."""

        def __init__(
            self,
            *args: Any,
            activation: Any = None,
            use_bias: bool = True,
            bias_initializer: Any = "zeros",
            bias_regularizer: Any = None,
            **more: Any,
        ) -> None:
            super().__init__(*args, use_bias=False, **more)
            self._has_bias = use_bias
            self._activate = keras.activations.get(activation)
            self._bias_start = keras.initializers.get(bias_initializer)
            self._bias_penalty = keras.regularizers.get(bias_regularizer)

        def build(self, input_shape: Any) -> None:
            super().build(input_shape)
            if self._has_bias:
                self._exact_bias = self.add_weight(
                    name="bias",
                    shape=self.compute_output_shape(input_shape)[-1:],
                    initializer=self._bias_start,
                    regularizer=self._bias_penalty,
                    autocast=False,
                )

        def call(self, inputs: Any) -> Any:
            outputs = super().call(inputs)
            if self._has_bias:
                outputs = _add_bias()(outputs, tf.convert_to_tensor(self._exact_bias))
            return self._activate(outputs)

    return ExactBias


@cache
def _add_bias() -> Any:
    """(images (batch, ..., channels), float32 bias (channels,)) -> their sum."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def add_bias(values: Any, bias: Any) -> tuple[Any, Any]:
        def gradient(upstream: Any) -> tuple[Any, Any]:
            # TensorFlow's reductions add up in float32 inside but round what they give:
            # each image's sum is rounded, their sum is not.
            within = list(range(1, len(values.shape) - 1))
            each = tf.reduce_sum(upstream, axis=within) if within else upstream
            return upstream, tf.reduce_sum(tf.cast(each, tf.float32), axis=0)

        return tf.nn.bias_add(values, tf.cast(bias, values.dtype)), gradient

    return add_bias


# fast dropout --------------------------------------------------------------------------------
# Dropout that draws a byte for each number instead of a float.
#
# Keras draws a random float32 for each number and compares it with the rate; on a processor that
# took 45 of the 100 ms of a dropout of 8 million numbers in bfloat16, forward and backward. A
# byte decides as well: the whole took 30 ms. Where the rate is no whole number of 256ths, two
# bytes decide, and the rate is met to one part in 100,000.
#
# Only the trainer uses it. What is exported is built of Keras's own layers, and a dropout has no
# weights.

_WORD_BYTES = 8
"""Random numbers are drawn as 64-bit words."""


def threshold(rate: float) -> tuple[int, int]:
    """(bytes a number, how many of their values drop it) for a rate in 0..1, 1 excluded."""
    of_byte = rate * 256
    if of_byte == int(of_byte):
        return 1, int(of_byte)
    # Two bytes hold no 65,536: a rate that near to 1 keeps one number of so many.
    return 2, min(65_535, round(rate * 65_536))


@cache
def fast_dropout() -> Any:
    """The class to use in place of `keras.layers.Dropout`."""

    class FastDropout(keras.layers.Dropout):  # type: ignore[misc]
        """`keras.layers.Dropout`, from bytes of the same seeded generator."""

        def call(self, inputs: Any, training: Any = None) -> Any:
            if not training or not 0 < self.rate < 1 or self.noise_shape is not None:
                return super().call(inputs, training=bool(training))
            seed = tf.cast(self.seed_generator.next(), tf.int32)
            return _dropped(inputs, _random_scales(inputs, self.rate, seed))

    return FastDropout


def _random_scales(inputs: Any, rate: float, seed: Any) -> Any:
    """What each number is multiplied with: 0 at the rate, else 1 / (1 - rate)."""
    size, limit = threshold(rate)
    kind = tf.uint8 if size == 1 else tf.uint16
    is_static = inputs.shape.is_fully_defined()
    shape = inputs.shape if is_static else tf.shape(inputs)
    count = inputs.shape.num_elements() if is_static else tf.size(inputs)
    words = (count * size + _WORD_BYTES - 1) // _WORD_BYTES
    bits = tf.random.stateless_uniform([words], seed, None, None, tf.uint64)
    values = tf.reshape(tf.reshape(tf.bitcast(bits, kind), [-1])[:count], shape)
    keeps = tf.greater_equal(values, tf.constant(limit, kind))
    scale = tf.constant(1 / (1 - rate), inputs.dtype)
    return tf.where(keeps, scale, tf.constant(0, inputs.dtype))


def _dropped(inputs: Any, scales: Any) -> Any:
    """The product; its gradient needs the scales alone, so nothing else is kept for it."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def multiply(values: Any) -> tuple[Any, Any]:
        return values * scales, lambda gradient: gradient * scales

    return multiply(inputs)


# linked layers -------------------------------------------------------------------------------
# Layers that use what the layer before them has computed on the way to its output.
#
# - The gradient of a ReLU before a max pooling is masked behind it, where there is a quarter of the
#   values: the largest value of a window passes the mask exactly when the window's maximum does.
# - A ReLU behind the pooling of a convolution is computed within the convolution, whose result
#   oneDNN
#   rectifies on its way to memory: the largest of the rectified values is the rectified largest.
# - A convolution on normalized images takes the normalization's scale and offset into its kernel:
#   see
#   `model.fast_layers`.
#
# The first two give the same numbers to the bit.
#
# What a layer offers is an attribute of its output tensor, so that it reaches exactly the layers
# that take this output, and every other model of the same layers computes as ever. Only the trainer
# uses these layers.

_LINEAR = "_workbench_linear"
"""Attribute of the output tensor of a ReLU: the ReLU's input."""

_WINDOWS = "_workbench_windows"
"""Attribute of the output tensor of a convolution without activation: True."""

_POOLED = "_workbench_pooled"
"""Attribute of the tensor that max pooling makes of such an output: (that output, arguments of the
pooling)."""


def linked_class(training_class: TrainingClass | None) -> Any | None:
    """The class that trains a layer of such a type; None where it is none of these."""
    make = None if training_class is None else _CLASSES.get(training_class)
    return None if make is None else make()


@cache
def _convolution() -> Any:
    class LinkedConv2D(keras.layers.Conv2D):  # type: ignore[misc]
        """`keras.layers.Conv2D` that offers what it has before a ReLU."""

        def convolution_op(self, inputs: Any, kernel: Any) -> Any:
            images = normalized_before(inputs)
            if images is not None and self.groups == 1:
                # As it is kept: scale and offset are taken in before it is rounded.
                kept = tf.convert_to_tensor(self._kernel._value)  # noqa: SLF001 - no public way
                inputs, kernel = images.values, images.taken_in(kept)
            return super().convolution_op(inputs, kernel)

        def call(self, inputs: Any) -> Any:
            linear = self.convolution_op(inputs, self.kernel)
            if self.use_bias:
                linear = keras.ops.add(linear, keras.ops.reshape(self.bias, (1, 1, 1, -1)))
            if self.activation is keras.activations.relu:
                return _rectified(linear)
            outputs = self.activation(linear)
            if self.activation is keras.activations.linear:
                setattr(outputs, _WINDOWS, True)
            return outputs

    return LinkedConv2D


@cache
def _max_pooling() -> Any:
    class LinkedMaxPooling2D(keras.layers.MaxPooling2D):  # type: ignore[misc]
        """`keras.layers.MaxPooling2D`, together with the ReLU before it or behind it."""

        def call(self, inputs: Any) -> Any:
            sides = {"ksize": [1, *self.pool_size, 1], "strides": [1, *self.strides, 1]}
            how = {**sides, "padding": self.padding.upper()}
            linear = getattr(inputs, _LINEAR, None)
            if linear is not None:
                return _rectified_and_pooled(linear, how)
            outputs = super().call(inputs)
            if hasattr(inputs, _WINDOWS):
                setattr(outputs, _POOLED, (inputs, how))
            return outputs

    return LinkedMaxPooling2D


@cache
def _relu() -> Any:
    class LinkedReLU(keras.layers.ReLU):  # type: ignore[misc]
        """`keras.layers.ReLU`, together with the max pooling before it or behind it."""

        def call(self, inputs: Any) -> Any:
            if self.max_value is not None or self.negative_slope or self.threshold:
                return super().call(inputs)
            pooled = getattr(inputs, _POOLED, None)
            return _rectified(inputs) if pooled is None else _rectified_and_pooled(*pooled)

    return LinkedReLU


_CLASSES: Mapping[TrainingClass, Callable[[], Any]] = {
    TrainingClass.LINKED_CONVOLUTION: _convolution,
    TrainingClass.LINKED_POOLING: _max_pooling,
    TrainingClass.LINKED_RELU: _relu,
}


def _rectified(linear: Any) -> Any:
    outputs = keras.activations.relu(linear)
    setattr(outputs, _LINEAR, linear)
    return outputs


def _rectified_and_pooled(values: Any, how: Mapping[str, Any]) -> Any:
    """The largest value of each window, at least 0; `how` are arguments of TensorFlow's MaxPool."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def compute(linear: Any) -> tuple[Any, Any]:
        rectified = tf.nn.relu(linear)
        outputs = tf.raw_ops.MaxPool(input=rectified, **how)

        def gradient(upstream: Any) -> Any:
            masked = tf.raw_ops.ReluGrad(gradients=upstream, features=outputs)
            return tf.raw_ops.MaxPoolGrad(
                orig_input=rectified, orig_output=outputs, grad=masked, **how
            )

        return outputs, gradient

    return compute(values)


# replica seeds -------------------------------------------------------------------------------
# Random layers draw other numbers on each replica.
#
# Keras keeps the state of a layer's generator in a variable that is equal on all replicas, so
# that each would drop the same places of its part of the batch: with eight replicas, one mask
# for eight images. Here the replica's number becomes part of the seed that is handed out. The
# state itself stays equal everywhere, so a checkpoint of one replica's goes on exactly.

_STRIDE = 0x9E37
"""Between the seeds of two replicas. It goes to the part of the seed that is the layer's own:
the other one counts the calls, and there replicas would draw each other's numbers later.
"""


def fold_replicas(model: Any, replicas: int) -> None:
    """Lets the model's random layers draw differently on each of several replicas.

    With one replica nothing is touched. The first replica draws what it would alone. The model
    must not have been traced yet.
    """
    if replicas == 1:
        return
    for layer in model.layers:
        for value in vars(layer).values():
            if isinstance(value, keras.random.SeedGenerator):
                value.next = _of_this_replica(value.next)


def _of_this_replica(own_next: Callable[..., Any]) -> Callable[..., Any]:
    """`SeedGenerator.next` for the replica that calls it: two numbers, as before."""

    def following(*, ordered: bool = True) -> Any:
        seed = own_next(ordered=ordered)
        context = tf.distribute.get_replica_context()
        if context is None:  # outside of a step: nothing is split
            return seed
        number = tf.cast(context.replica_id_in_sync_group, seed.dtype)
        return seed + tf.stack([number * _STRIDE, tf.zeros_like(number)])

    return following


# wide dense ----------------------------------------------------------------------------------
# The layer that makes scores: in float32, behind layers that compute in bfloat16.
#
# Its inputs are bfloat16, and so is their gradient in the end. Keras computes it in float32 and
# rounds it then, which takes memory several times; here factors and result are bfloat16, as in
# every layer before. Scores and the gradient of the weights stay float32, and are the same to the
# bit.


@cache
def wide_dense() -> Any:
    """The class to use in place of a `keras.layers.Dense` that computes in float32."""

    class WideDense(keras.layers.Dense):  # type: ignore[misc]
        """`keras.layers.Dense` that takes its inputs in the type that they have."""

        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, autocast=False, **more)

        def call(self, inputs: Any, training: Any = None) -> Any:
            if inputs.dtype != tf.bfloat16 or len(inputs.shape) != 2:
                return super().call(tf.cast(inputs, self.compute_dtype), training=training)
            values = _product()(inputs, tf.convert_to_tensor(self.kernel))
            if self.use_bias:
                values = keras.ops.add(values, self.bias)
            return self.activation(values)

    return WideDense


@cache
def _product() -> Any:
    """(bfloat16 (n, inputs), float32 (inputs, units)) -> float32 (n, units)."""

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def product(inputs: Any, kernel: Any) -> tuple[Any, Any]:
        wide = tf.cast(inputs, kernel.dtype)

        def gradient(upstream: Any) -> tuple[Any, Any]:
            narrow, rounded = tf.cast(upstream, inputs.dtype), tf.cast(kernel, inputs.dtype)
            of_inputs = tf.matmul(narrow, rounded, transpose_b=True)
            return of_inputs, tf.matmul(wide, upstream, transpose_a=True)

        return tf.matmul(wide, kernel), gradient

    return product
