"""LayerNormalization: the channels of each place to mean 0 and variance 1."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import (
    NORMALIZATION_PARAMS,
    count_affine,
    describe_affine,
    normalized_range,
    one_per_value,
    same_shape,
    with_regularizers,
)
from workbench.layers._onnx import affine_weights, number


def _write(layer: OnnxLayer) -> OnnxValue:
    # In Keras's own steps: where the numbers of a place are nearly equal, others round otherwise,
    # and those of ONNX Runtime's operator far more.
    (value,), axes = layer.inputs, [-1]
    name = layer.last(value)
    mean = layer.op("ReduceMean", name, axes=axes)
    centered = layer.op("Sub", name, mean)
    variance = layer.op("ReduceMean", layer.op("Mul", centered, centered), axes=axes)
    deviation = layer.op("Sqrt", layer.op("Add", variance, number(layer.params["epsilon"])))
    scale = layer.op("Reciprocal", deviation)
    gamma, beta = affine_weights(layer)
    if gamma is not None:
        scale = layer.op("Mul", scale, gamma)
    offset = layer.op("Neg", layer.op("Mul", mean, scale))
    if beta is not None:
        offset = layer.op("Add", offset, beta)
    return layer.out(layer.op("Add", layer.op("Mul", name, scale), offset))


SPEC = LayerSpec(
    key="layer_normalization",
    title="LayerNormalization",
    category="normalization",
    summary="Normalizes the channels at each position to mean 0 and variance 1, per image: the "
    "same in training and prediction, for any batch size.",
    params=NORMALIZATION_PARAMS,
    infer_shape=same_shape,
    range_of=normalized_range,
    count_params=count_affine,
    count_multiply_adds=one_per_value,
    describe=describe_affine,
    keras_arguments=with_regularizers,
    keywords=("layernorm", "normalize", "standardize", "convnext"),
    onnx=_write,
)
