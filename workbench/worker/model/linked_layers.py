"""Layers that use what the layer before them has computed on the way to its output.

- The gradient of a ReLU before a max pooling is masked behind it, where there is a quarter of the
  values: the largest value of a window passes the mask exactly when the window's maximum does.
- A ReLU behind the pooling of a convolution is computed within the convolution, whose result oneDNN
  rectifies on its way to memory: the largest of the rectified values is the rectified largest.
- A convolution on normalized images takes the normalization's scale and offset into its kernel: see
  `model.normalized_images`.

The first two give the same numbers to the bit.

What a layer offers is an attribute of its output tensor, so that it reaches exactly the layers that
take this output, and every other model of the same layers computes as ever. Only the trainer uses
these layers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from workbench.core.specs import TrainingClass
from workbench.worker.model.normalized_images import normalized_before
from workbench.worker.process.lazy_keras import keras, tf

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
