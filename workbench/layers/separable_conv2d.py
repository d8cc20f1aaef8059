"""SeparableConv2D: a depthwise convolution and then a 1×1 convolution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from workbench.core.params import Params
from workbench.core.specs import LayerSpec, ParamCount, Shape, TrainingClass
from workbench.layers._common import (
    activation_param,
    initializer_param,
    lanes_hint,
    need_picture,
    regularizer_params,
    use_bias_param,
    vector_initializer_param,
    with_regularizers,
)
from workbench.layers._convolution import (
    depth_multiplier_param,
    describe_convolution,
    dilation_param,
    filters_param,
    output_shape,
    window_params,
)


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    picture = need_picture("SeparableConv2D", inputs)
    return output_shape("SeparableConv2D", params, picture, params["filters"])


def _weights(params: Params, inputs: Sequence[Shape]) -> int:
    height, width = params["kernel_size"]
    middle = inputs[0][-1] * params["depth_multiplier"]
    return int(middle * (height * width + params["filters"]))


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    return ParamCount(_weights(params, inputs) + params["filters"] * bool(params["use_bias"]))


def _count_multiply_adds(params: Params, inputs: Sequence[Shape], output: Shape) -> int:
    return math.prod(output[:2]) * _weights(params, inputs)


def _keras_arguments(params: Params) -> dict[str, Any]:
    return with_regularizers(params, ("depthwise", "pointwise", "bias"))


SPEC = LayerSpec(
    key="separable_conv2d",
    title="SeparableConv2D",
    category="convolution",
    summary="A convolution per channel, then one that mixes the channels: nearly as powerful as "
    "Conv2D with far fewer weights.",
    params=(
        filters_param(),
        *window_params(),
        activation_param(),
        depth_multiplier_param(),
        dilation_param(),
        use_bias_param(),
        initializer_param("depthwise_initializer", "Depthwise initializer"),
        initializer_param("pointwise_initializer", "Pointwise initializer"),
        vector_initializer_param("bias_initializer", "Bias initializer"),
        *regularizer_params("depthwise", "Depthwise"),
        *regularizer_params("pointwise", "Pointwise"),
        *regularizer_params("bias", "Bias"),
    ),
    infer_shape=_infer_shape,
    count_params=_count_params,
    count_multiply_adds=_count_multiply_adds,
    describe=describe_convolution,
    keras_arguments=_keras_arguments,
    width="filters",
    training_class=TrainingClass.EXACT_BIAS_WITHOUT_ONEDNN,
    keywords=("convolution", "depthwise", "pointwise", "mobilenet", "xception"),
    tpu_hint=lambda params, output: lanes_hint(params["filters"], "filters"),
)
