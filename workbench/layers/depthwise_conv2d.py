"""DepthwiseConv2D: filters that look at one channel each."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
    picture = need_picture("DepthwiseConv2D", inputs)
    channels = picture[2] * params["depth_multiplier"]
    return window_shape("DepthwiseConv2D", params, picture, channels)


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    height, width = params["kernel_size"]
    channels = inputs[0][-1] * params["depth_multiplier"]
    return ParamCount(channels * (height * width + bool(params["use_bias"])))


def _count_multiply_adds(params: Params, inputs: Sequence[Shape], output: Shape) -> int:
    return math.prod(output) * math.prod(params["kernel_size"])


def _write(layer: OnnxLayer) -> OnnxValue:
    return activated(layer, depthwise(layer, layer.weight("kernel"), bias_of(layer)))


SPEC = convolution_layer(
    DEPTH_MULTIPLIER,
    DILATION,
    kernels=("depthwise",),
    has_filters=False,
    key="depthwise_conv2d",
    title="DepthwiseConv2D",
    summary="Slides a filter over each channel separately; channels are not mixed.",
    infer_shape=_infer_shape,
    count_params=_count_params,
    count_multiply_adds=_count_multiply_adds,
    training_class=TrainingClass.EXACT_BIAS,
    keywords=("convolution", "per channel", "mobilenet"),
    tpu_hint=lambda params, output: (
        "Depthwise convolutions hardly use a TPU's matrix unit: they run on its vector unit."
    ),
    onnx=_write,
)
