"""BatchNormalization: each channel to mean 0 and variance 1 over the batch."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.params import FloatParam, Params
from workbench.core.specs import LayerSpec, ParamCount, Shape, TrainingClass
from workbench.layers._common import (
    normalized_range,
    one_per_value,
    same_shape,
    unless,
    with_regularizers,
)
from workbench.layers._normalization import NORMALIZATION_PARAMS, count_affine, describe_affine


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    learned = count_affine(params, inputs).trainable
    return ParamCount(learned, 2 * inputs[0][-1])


def _describe(params: Params) -> str:
    return describe_affine(params, unless(params, "momentum", 0.99, "momentum {:g}"))


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
)
