"""DepthwiseConv2D: filters that look at one channel each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from workbench.core.params import Params
from workbench.core.specs import LayerSpec, ParamCount, Shape, TrainingClass
from workbench.layers._common import (
    activation_param,
    need_picture,
    weight_params,
    with_regularizers,
)
from workbench.layers._convolution import (
    depth_multiplier_param,
    describe_convolution,
    dilation_param,
    output_shape,
    window_params,
)


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    picture = need_picture("DepthwiseConv2D", inputs)
    channels = picture[2] * params["depth_multiplier"]
    return output_shape("DepthwiseConv2D", params, picture, channels)


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    height, width = params["kernel_size"]
    channels = inputs[0][-1] * params["depth_multiplier"]
    return ParamCount(channels * (height * width + bool(params["use_bias"])))


def _count_multiply_adds(params: Params, inputs: Sequence[Shape], output: Shape) -> int:
    return math.prod(output) * math.prod(params["kernel_size"])


def _keras_arguments(params: Params) -> dict[str, Any]:
    return with_regularizers(params, ("depthwise", "bias"))


SPEC = LayerSpec(
    key="depthwise_conv2d",
    title="DepthwiseConv2D",
    category="convolution",
    summary="Slides a filter over each channel separately; channels are not mixed.",
    params=(
        *window_params(),
        activation_param(),
        depth_multiplier_param(),
        dilation_param(),
        *weight_params(kernel="depthwise", words="Depthwise"),
    ),
    infer_shape=_infer_shape,
    count_params=_count_params,
    count_multiply_adds=_count_multiply_adds,
    describe=describe_convolution,
    keras_arguments=_keras_arguments,
    training_class=TrainingClass.EXACT_BIAS,
    keywords=("convolution", "per channel", "mobilenet"),
    tpu_hint=lambda params, output: (
        "Depthwise convolutions hardly use a TPU's matrix unit: they run on its vector unit."
    ),
)
