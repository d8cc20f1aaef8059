"""What a layer is handed to write itself in ONNX, for programs without TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Shape = tuple[int, ...]
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class OnnxValue:
    """A tensor of the ONNX graph.

    Attributes:
        name: Its name there.
        shape: Shape for one image, without the batch axis, as in Keras: channels last.
        is_channels_first: Whether the tensor is (n, channels, height, width), as ONNX's windows
            need it; else its axes are those of `shape`.
    """

    name: str
    shape: Shape
    is_channels_first: bool = False

    @property
    def channel_axis(self) -> int:
        """The tensor's axis of the channels: the last of Keras's."""
        return 1 if self.is_channels_first else -1


class OnnxLayer(Protocol):
    """One layer while it is written.

    Attributes:
        params: Its checked parameters.
        inputs: What comes in, in the order of the ports.
        shape: Its output's shape as in Keras.
    """

    params: Mapping[str, Any]
    inputs: Sequence[OnnxValue]
    shape: Shape

    def weight(self, name: str) -> Array:
        """One of its weights by Keras's name, float32."""

    def op(self, kind: str, *inputs: str | Array, num_outputs: int = 1, **attributes: Any) -> str:
        """Adds an operator of the standard set; returns the name of its first output. An array
        becomes a constant.
        """

    def first(self, value: OnnxValue) -> str:
        """An image's tensor as (n, channels, height, width)."""

    def last(self, value: OnnxValue) -> str:
        """A tensor with Keras's axes."""

    def out(self, name: str, *, is_channels_first: bool = False) -> OnnxValue:
        """A tensor as this layer's output."""

    def mapped(self, kind: str, *inputs: OnnxValue | str | Array, **attributes: Any) -> OnnxValue:
        """Adds an operator that works on each number alone; the first input is a value, and the
        output has its axes.
        """

    def by_channel(self, array: Array, value: OnnxValue) -> Array:
        """Numbers, one a channel, in the shape in which they broadcast to a value's tensor."""


def same(layer: OnnxLayer) -> OnnxValue:
    """The rule of a layer that does nothing outside of training."""
    return layer.inputs[0]


WriteOnnx = Callable[[Any], OnnxValue]
"""A layer's rule: writes an OnnxLayer, returns its output."""
