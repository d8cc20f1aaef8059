"""LayerNormalization: the channels of each place to mean 0 and variance 1."""

from __future__ import annotations

from workbench.core.params import Params
from workbench.core.specs import LayerSpec
from workbench.layers._common import join, one_per_value, same_shape
from workbench.layers._normalization import (
    affine_arguments,
    affine_params,
    affine_words,
    count_affine,
    epsilon_param,
)


def _describe(params: Params) -> str:
    return join(affine_words(params))


SPEC = LayerSpec(
    key="layer_normalization",
    title="LayerNormalization",
    category="normalisation",
    summary="Normalizes the channels at each position to mean 0 and variance 1, per image: the "
    "same in training and prediction, for any batch size.",
    params=(epsilon_param(), *affine_params()),
    infer_shape=same_shape,
    count_params=count_affine,
    count_multiply_adds=one_per_value,
    describe=_describe,
    keras_arguments=affine_arguments,
    keywords=("layernorm", "normalize", "standardize", "convnext"),
)
