"""SeparableConv2D: a depthwise convolution and then a 1×1 convolution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.core.params import Params
from workbench.core.specs import ParamCount, Shape, TrainingClass
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import need_picture
from workbench.layers._convolution import (
    DEPTH_MULTIPLIER,
    DILATION,
    convolution_layer,
    window_shape,
)
from workbench.layers._onnx import activated, bias_of, depthwise


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    picture = need_picture("SeparableConv2D", inputs)
    return window_shape("SeparableConv2D", params, picture, params["filters"])


def _weights(params: Params, inputs: Sequence[Shape]) -> int:
    height, width = params["kernel_size"]
    middle = inputs[0][-1] * params["depth_multiplier"]
    return int(middle * (height * width + params["filters"]))


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    return ParamCount(_weights(params, inputs) + params["filters"] * bool(params["use_bias"]))


def _count_multiply_adds(params: Params, inputs: Sequence[Shape], output: Shape) -> int:
    return math.prod(output[:2]) * _weights(params, inputs)


def _write(layer: OnnxLayer) -> OnnxValue:
    name = depthwise(layer, layer.weight("depthwise_kernel"), None)
    mixing = np.ascontiguousarray(layer.weight("pointwise_kernel").transpose(3, 2, 0, 1))
    bias = bias_of(layer)
    return activated(layer, layer.op("Conv", name, mixing, *([] if bias is None else [bias])))


SPEC = convolution_layer(
    DEPTH_MULTIPLIER,
    DILATION,
    kernels=("depthwise", "pointwise"),
    key="separable_conv2d",
    title="SeparableConv2D",
    summary="A convolution per channel, then one that mixes the channels: nearly as powerful as "
    "Conv2D with far fewer weights.",
    infer_shape=_infer_shape,
    count_params=_count_params,
    count_multiply_adds=_count_multiply_adds,
    training_class=TrainingClass.EXACT_BIAS_WITHOUT_ONEDNN,
    keywords=("convolution", "depthwise", "pointwise", "mobilenet", "xception"),
    onnx=_write,
)
