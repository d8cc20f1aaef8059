"""Softmax: scores become probabilities."""

from __future__ import annotations

from workbench.core.specs import LayerSpec, Role
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import same_shape
from workbench.layers._onnx import softmax


def _write(layer: OnnxLayer) -> OnnxValue:
    return softmax(layer, layer.inputs[0])


SPEC = LayerSpec(
    key="softmax",
    title="Softmax",
    category="activation",
    summary="Converts the last axis into probabilities that sum to 1: the usual end of a "
    "classifier.",
    infer_shape=same_shape,
    role=Role.SOFTMAX,
    common_rank=9,
    keywords=("probabilities", "classifier", "activation", "output"),
    onnx=_write,
)
