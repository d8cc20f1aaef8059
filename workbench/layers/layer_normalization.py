"""LayerNormalization: the channels of each place to mean 0 and variance 1."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.layers._common import normalized_range, one_per_value, same_shape, with_regularizers
from workbench.layers._normalization import NORMALIZATION_PARAMS, count_affine, describe_affine

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
)
