"""Layers whose bias learns in bfloat16 too: its gradient is added up in float32.

TensorFlow's own gradient of a bias (`BiasAddGrad`) adds bfloat16 numbers up in bfloat16 on a
CPU. Over a batch of images that is thousands of values into one, and a sum stops growing at
256 times the values' size: over 128 images of 48 x 48 it was off by 97%. The sum here is
off by 0.01%, in a third of the time.

Plain convolutions are spared where oneDNN is at work: it computes the gradients of kernel and
bias at once, and right.

Only the trainer uses these layers. What is exported is built of Keras's own.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench.core.specs import TrainingClass
from workbench.worker.process.lazy_keras import keras, tf

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
