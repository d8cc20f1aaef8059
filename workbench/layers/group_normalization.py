"""GroupNormalization: groups of channels to mean 0 and variance 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.core.params import IntParam, Params
from workbench.core.specs import LayerSpec, Shape, ShapeProblem
from workbench.core.specs.layer import Array, OnnxLayer, OnnxValue
from workbench.layers._common import (
    NORMALIZATION_PARAMS,
    count_affine,
    describe_affine,
    normalized_range,
    one_per_value,
    with_regularizers,
)
from workbench.layers._onnx import affine, affine_weights


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


def _write(layer: OnnxLayer) -> OnnxValue:
    (value,) = layer.inputs
    channels, places = value.shape[-1], math.prod(value.shape[:-1])
    groups = channels if layer.params["groups"] == -1 else layer.params["groups"]
    # (n, places, channels) -> (n, groups, what is normalized together), and back.
    flat = layer.op("Reshape", layer.last(value), _shape(-1, places, groups, channels // groups))
    grouped = layer.op("Transpose", flat, perm=[0, 2, 1, 3])
    lines = layer.op("Reshape", grouped, _shape(-1, groups, places * channels // groups))
    ones, zeros = np.ones(groups, np.float32), np.zeros(groups, np.float32)
    even = layer.op("InstanceNormalization", lines, ones, zeros, epsilon=layer.params["epsilon"])
    back = layer.op("Reshape", even, _shape(-1, groups, places, channels // groups))
    turned = layer.op("Transpose", back, perm=[0, 2, 1, 3])
    out = layer.out(layer.op("Reshape", turned, _shape(-1, *value.shape)))
    return affine(layer, out, *affine_weights(layer))


def _shape(*lengths: int) -> Array:
    return np.array(lengths, np.int64)


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
    onnx=_write,
)
