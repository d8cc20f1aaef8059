"""The layer that makes scores: in float32, behind layers that compute in bfloat16.

Its inputs are bfloat16, and so is their gradient in the end. Keras computes it in float32 and
rounds it then, which takes memory several times; here factors and result are bfloat16, as in every
layer before. Scores and the gradient of the weights stay float32, and are the same to the bit.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from workbench.worker.process.lazy_keras import keras, tf


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
