"""PReLU: the slope for negative values is learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from workbench.core.params import BoolParam, Params
from workbench.core.specs import LayerSpec, ParamCount, Shape, ShapeProblem
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import (
    regularizer_params,
    same_shape,
    vector_initializer_param,
    with_regularizers,
)


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    if params["share_places"] and len(inputs[0]) < 3:
        raise ShapeProblem(
            "PReLU can only share slopes over an image",
            "PReLU shares its slopes over height and width, which this input does not have.",
            ("set_share_places:false",),
        )
    return same_shape(params, inputs)


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    shape = inputs[0]
    return ParamCount(math.prod(shape[2:] if params["share_places"] else shape))


def _keras_arguments(params: Params) -> dict[str, Any]:
    arguments = with_regularizers(params)
    if arguments.pop("share_places"):
        arguments["shared_axes"] = [1, 2]
    return arguments


def _write(layer: OnnxLayer) -> OnnxValue:
    (value,) = layer.inputs
    slopes = layer.weight("alpha")
    if value.is_channels_first:
        slopes = slopes.transpose(2, 0, 1)
    return layer.mapped("PRelu", value, slopes)


SPEC = LayerSpec(
    key="prelu",
    title="PReLU",
    category="activation",
    summary="Like LeakyReLU, but the slope for negative values is learned.",
    params=(
        BoolParam(
            "share_places",
            False,
            "One slope per channel instead of one per value: far fewer weights.",
            title="Share over the image",
        ),
        vector_initializer_param("alpha_initializer", "Slope initializer"),
        *regularizer_params("alpha", "Slope"),
    ),
    infer_shape=_infer_shape,
    count_params=_count_params,
    describe=lambda params: "shared" if params["share_places"] else "",
    keras_arguments=_keras_arguments,
    keywords=("activation", "parametric", "rectified", "learned"),
    onnx=_write,
)
