"""BatchNormalization: each channel to mean 0 and variance 1 over the batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.params import FloatParam, Params
from workbench.core.specs import LayerSpec, ParamCount, Shape, TrainingClass
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import (
    NORMALIZATION_PARAMS,
    count_affine,
    describe_affine,
    normalized_range,
    one_per_value,
    same_shape,
    unless,
    with_regularizers,
)
from workbench.layers._onnx import affine, affine_weights


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    learned = count_affine(params, inputs).trainable
    return ParamCount(learned, 2 * inputs[0][-1])


def _describe(params: Params) -> str:
    return describe_affine(params, unless(params, "momentum", 0.99, "momentum {:g}"))


def _write(layer: OnnxLayer) -> OnnxValue:
    (value,), params = layer.inputs, layer.params
    mean, variance = layer.weight("moving_mean"), layer.weight("moving_variance")
    gamma, beta = affine_weights(layer)
    scale = np.ones_like(mean) if gamma is None else gamma
    offset = np.zeros_like(mean) if beta is None else beta
    if value.is_channels_first or len(value.shape) == 1:  # then it can be folded into a kernel
        constants = scale, offset, mean, variance
        return layer.mapped("BatchNormalization", value, *constants, epsilon=params["epsilon"])
    factor = (scale / np.sqrt(variance + np.float32(params["epsilon"]))).astype(np.float32)
    return affine(layer, value, factor, offset - mean * factor)


SPEC = LayerSpec(
    key="batch_normalization",
    title="BatchNormalization",
    category="normalization",
    summary="Normalizes each channel to mean 0 and variance 1 over the batch, which makes "
    "training faster and more stable. Predictions use the moving mean and variance.",
    params=(
        FloatParam(
            "momentum",
            0.99,
            "How slowly the moving mean and variance follow. Lower it, for example to 0.9, "
            "when there are few steps.",
            maximum=1.0,
            is_maximum_excluded=True,
        ),
        *NORMALIZATION_PARAMS,
    ),
    infer_shape=same_shape,
    range_of=normalized_range,
    is_linear=True,
    count_params=_count_params,
    count_multiply_adds=one_per_value,
    describe=_describe,
    keras_arguments=with_regularizers,
    has_batch_statistics=True,
    training_class=TrainingClass.FUSED_BATCH_NORM,
    common_rank=7,
    keywords=("bn", "batchnorm", "normalize", "standardize"),
    onnx=_write,
)
