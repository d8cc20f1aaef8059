"""Normalization: each channel to mean 0 and variance 1 over the training pictures."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.params import Params
from workbench.core.specs import LayerSpec, ParamCount, Shape
from workbench.layers._common import one_per_value, same_shape


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    return ParamCount(0, 2 * inputs[0][-1] + 1)  # mean, variance, and Keras's counter


SPEC = LayerSpec(
    key="normalization",
    title="Normalization",
    category="preprocessing",
    summary="Normalizes each channel to mean 0 and variance 1, computed from the training "
    "images before training starts.",
    infer_shape=same_shape,
    count_params=_count_params,
    count_multiply_adds=one_per_value,
    place="either",
    keywords=("standardize", "mean", "variance", "adapt", "scale"),
)
