"""The ONNX graph while it is written: operators, constants, and the order of the axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.specs.layer import SOFTMAX, Array, OnnxValue, Shape
from workbench.errors import WeightsError
from workbench.onnx import protobuf

_TO_FIRST, _TO_LAST = (0, 3, 1, 2), (0, 2, 3, 1)


class OnnxWriter:
    """Collects operators and constants.

    Attributes:
        parts: Fields of the graph's message so far.
    """

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._names = 0
        self._turned: dict[str, str] = {}
        self._softmaxes: dict[str, str] = {}

    def op(self, kind: str, *inputs: str | Array, num_outputs: int = 1, **attributes: Any) -> str:
        """Adds an operator; arrays become constants. Returns the name of its first output."""
        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        outputs = [self._name("t") for _ in range(num_outputs)]
        self.parts.append(protobuf.text(1, protobuf.node(kind, names, outputs, attributes)))
        if kind.lower() == SOFTMAX:
            self._softmaxes[outputs[0]] = names[0]
        return outputs[0]

    def before_softmax(self, name: str) -> str:
        """Logits of a tensor of probabilities: what its softmax was computed of."""
        return self._softmaxes.get(name) or self.op("Log", name)

    def constant(self, array: Array) -> str:
        """Adds a constant; returns its name."""
        name = self._name("c")
        self.parts.append(protobuf.text(5, protobuf.tensor(name, array)))
        return name

    def name(self, value: str, name: str) -> None:
        """Gives a tensor a second name, for an output."""
        self.parts.append(protobuf.text(1, protobuf.node("Identity", [value], [name], {})))

    def first(self, value: OnnxValue) -> str:
        """An image's tensor as (n, channels, height, width)."""
        return value.name if value.is_channels_first else self._turn(value.name, _TO_FIRST)

    def last(self, value: OnnxValue) -> str:
        """A tensor with Keras's axes."""
        return self._turn(value.name, _TO_LAST) if value.is_channels_first else value.name

    def _turn(self, name: str, axes: Sequence[int]) -> str:
        """Transposes once, however many need it; a transposed tensor turned back is the first."""
        if name not in self._turned:
            turned = self.op("Transpose", name, perm=list(axes))
            self._turned[name], self._turned[turned] = turned, name
        return self._turned[name]

    def _name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"


@dataclass(frozen=True)
class WrittenLayer:
    """A layer while it is written: see `core.specs.layer.OnnxLayer`."""

    writer: OnnxWriter
    params: Mapping[str, Any]
    inputs: Sequence[OnnxValue]
    shape: Shape
    weights: Mapping[str, Array]
    name: str

    def weight(self, name: str) -> Array:
        full = f"{self.name}/{name}"
        if full not in self.weights:
            raise WeightsError("These weights do not fit this network.", received=f"no “{full}”")
        return np.asarray(self.weights[full], np.float32)

    def op(self, kind: str, *inputs: str | Array, num_outputs: int = 1, **attributes: Any) -> str:
        return self.writer.op(kind, *inputs, num_outputs=num_outputs, **attributes)

    def first(self, value: OnnxValue) -> str:
        return self.writer.first(value)

    def last(self, value: OnnxValue) -> str:
        return self.writer.last(value)

    def out(self, name: str, *, is_channels_first: bool = False) -> OnnxValue:
        return OnnxValue(name, self.shape, is_channels_first)

    def mapped(self, kind: str, *inputs: OnnxValue | str | Array, **attributes: Any) -> OnnxValue:
        value = next(each for each in inputs if isinstance(each, OnnxValue))
        names = [each.name if isinstance(each, OnnxValue) else each for each in inputs]
        return OnnxValue(self.op(kind, *names, **attributes), value.shape, value.is_channels_first)

    def by_channel(self, array: Array, value: OnnxValue) -> Array:
        return array.reshape(-1, 1, 1) if value.is_channels_first else array
