"""LayerNormalization: the channels of each place to mean 0 and variance 1."""

from __future__ import annotations

import numpy as np

from workbench.core.specs import LayerSpec
from workbench.core.specs.onnx import OnnxLayer, OnnxValue
from workbench.layers._common import normalized_range, one_per_value, same_shape, with_regularizers
from workbench.layers._normalization import NORMALIZATION_PARAMS, count_affine, describe_affine
from workbench.layers._onnx import affine_weights


def _write(layer: OnnxLayer) -> OnnxValue:
    (value,) = layer.inputs
    gamma, beta = affine_weights(layer)
    scale = np.ones(value.shape[-1], np.float32) if gamma is None else gamma
    more = [] if beta is None else [beta]
    epsilon = layer.params["epsilon"]
    name = layer.last(value)
    return layer.out(layer.op("LayerNormalization", name, scale, *more, axis=-1, epsilon=epsilon))


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
