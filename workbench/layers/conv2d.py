"""Conv2D: learned filters that slide over the image."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.core.params import Params
from workbench.core.specs import ParamCount, Shape, ShapeProblem, TrainingClass
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import need_picture
from workbench.layers._convolution import (
    DILATION,
    GROUPS,
    check_dilation,
    convolution_layer,
    strides_to,
    window_shape,
)
from workbench.layers._onnx import activated, bias_of, convolve


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    picture = need_picture("Conv2D", inputs)
    filters, groups = params["filters"], params["groups"]
    for count, words in ((filters, "filters"), (picture[2], "input channels")):
        if count % groups:
            raise ShapeProblem(
                "Groups do not divide the channels",
                f"Conv2D has {groups} groups, and {count} {words} cannot be split into that many "
                "equal parts.",
                (f"set_groups:{math.gcd(filters, picture[2], groups)}",),
            )
    check_dilation("Conv2D", params)
    return window_shape("Conv2D", params, picture, filters)


def _weights_per_output(params: Params, inputs: Sequence[Shape]) -> int:
    height, width = params["kernel_size"]
    return int(height * width * (inputs[0][-1] // params["groups"]))


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    per_filter = _weights_per_output(params, inputs) + bool(params["use_bias"])
    return ParamCount(params["filters"] * per_filter)


def _count_multiply_adds(params: Params, inputs: Sequence[Shape], output: Shape) -> int:
    return math.prod(output) * _weights_per_output(params, inputs)


def _projection(shape: Shape, wanted: Shape) -> Params | None:
    strides = strides_to(shape, wanted)
    if strides is None:
        return None
    return {"filters": wanted[2], "kernel_size": (1, 1), "strides": strides, "padding": "same"}


def _write(layer: OnnxLayer) -> OnnxValue:
    kernel, groups = layer.weight("kernel"), layer.params["groups"]
    return activated(layer, convolve(layer, layer.inputs[0], kernel, bias_of(layer), groups))


SPEC = convolution_layer(
    DILATION,
    GROUPS,
    key="conv2d",
    title="Conv2D",
    summary="Slides small filters over the image; each learns one pattern and produces one "
    "output channel.",
    infer_shape=_infer_shape,
    count_params=_count_params,
    count_multiply_adds=_count_multiply_adds,
    projection=_projection,
    training_class=TrainingClass.LINKED_CONVOLUTION,
    common_rank=2,
    keywords=("convolution", "filter", "kernel", "cnn", "1x1", "3x3", "pointwise"),
    onnx=_write,
)
