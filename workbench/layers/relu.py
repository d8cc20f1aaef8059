"""ReLU: negative values become zero."""

from __future__ import annotations

from typing import Any

from workbench.core.params import FloatParam, Params
from workbench.core.specs import LayerSpec, TrainingClass
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import join, same_shape, unless
from workbench.layers._onnx import clipped, number


def _keras_arguments(params: Params) -> dict[str, Any]:
    return {**params, "max_value": params["max_value"] or None}


def _describe(params: Params) -> str:
    return join(
        unless(params, "max_value", 0.0, "at most {:g}"),
        unless(params, "negative_slope", 0.0, "slope {:g}"),
        unless(params, "threshold", 0.0, "from {:g}"),
    )


def _write(layer: OnnxLayer) -> OnnxValue:
    (x,), params = layer.inputs, layer.params
    limit, slope, threshold = (params[key] for key in ("max_value", "negative_slope", "threshold"))
    if threshold:
        is_above = layer.mapped("Cast", layer.mapped("Greater", x, number(threshold)), to=1)
        result = layer.mapped("Mul", x, is_above)
    else:
        result = layer.mapped("Relu", x)
    if limit:
        result = clipped(layer, result, 0, limit)
    if not slope:
        return result
    below = layer.mapped("Relu", layer.mapped("Add", layer.mapped("Neg", x), number(threshold)))
    return layer.mapped("Sub", result, layer.mapped("Mul", below, number(slope)))


SPEC = LayerSpec(
    key="relu",
    title="ReLU",
    category="activation",
    summary="Sets negative values to zero: the usual activation.",
    params=(
        FloatParam(
            "max_value",
            0.0,
            "Largest output value; 0 means no limit. 6 gives ReLU6.",
            title="Upper limit",
            maximum=1e6,
            step=1.0,
            is_advanced=True,
        ),
        FloatParam(
            "negative_slope",
            0.0,
            "Slope for negative values, instead of zero.",
            maximum=100.0,
            is_advanced=True,
        ),
        FloatParam(
            "threshold", 0.0, "Values below this count as negative.", maximum=1e6, is_advanced=True
        ),
    ),
    infer_shape=same_shape,
    describe=_describe,
    keras_arguments=_keras_arguments,
    training_class=TrainingClass.LINKED_RELU,
    common_rank=8,
    keywords=("activation", "rectified", "relu6"),
    onnx=_write,
)
