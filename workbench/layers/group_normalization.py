"""GroupNormalization: groups of channels to mean 0 and variance 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.core.params import IntParam, Params
from workbench.core.specs import LayerSpec, Shape, ShapeProblem
from workbench.layers._common import normalized_range, one_per_value, with_regularizers
from workbench.layers._normalization import NORMALIZATION_PARAMS, count_affine, describe_affine


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    groups, channels = params["groups"], inputs[0][-1]
    if groups == -1:
        return inputs[0]
    if groups == 0 or channels % groups:
        raise ShapeProblem(
            "Groups do not divide the channels",
            f"GroupNormalization has {groups} groups, and {channels} channels cannot be split "
            "into that many equal parts.",
            (f"set_groups:{math.gcd(groups, channels) if groups else 1}", "set_groups:-1"),
        )
    return inputs[0]


def _describe(params: Params) -> str:
    groups = params["groups"]
    words = "each channel alone" if groups == -1 else f"{groups} groups"
    return describe_affine(params, words)


SPEC = LayerSpec(
    key="group_normalization",
    title="GroupNormalization",
    category="normalization",
    summary="Normalizes groups of channels to mean 0 and variance 1, per image: also works with "
    "small batches.",
    params=(
        IntParam(
            "groups",
            32,
            "Number of groups of channels; must divide the number of channels. -1 "
            "normalizes each channel separately (instance normalization).",
            minimum=-1,
            maximum=16_384,
        ),
        *NORMALIZATION_PARAMS,
    ),
    infer_shape=_infer_shape,
    range_of=normalized_range,
    count_params=count_affine,
    count_multiply_adds=one_per_value,
    describe=_describe,
    keras_arguments=with_regularizers,
    keywords=("groupnorm", "instance", "normalize", "standardize"),
)
