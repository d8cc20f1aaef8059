"""Flatten: all values in one row."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.core.params import Params
from workbench.core.specs import LayerSpec, Role, Shape
from workbench.core.specs.layer import OnnxLayer, OnnxValue


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    return (math.prod(inputs[0]),)


def _write(layer: OnnxLayer) -> OnnxValue:
    return layer.out(layer.op("Flatten", layer.last(layer.inputs[0]), axis=1))


SPEC = LayerSpec(
    key="flatten",
    title="Flatten",
    category="core",
    summary="Reshapes the input into one vector, as Dense layers need it.",
    infer_shape=_infer_shape,
    is_linear=True,
    role=Role.FLATTEN,
    common_rank=5,
    keywords=("vector", "row", "reshape"),
    onnx=_write,
)
