"""Conv2DTranspose: a convolution backwards, which enlarges the image."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.core.params import Params
from workbench.core.specs import ParamCount, Shape, ShapeProblem, TrainingClass
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import need_picture
from workbench.layers._convolution import DILATION, check_dilation, convolution_layer
from workbench.layers._onnx import activated, bias_of


def _length(size: int, kernel: int, stride: int, dilation: int, padding: str) -> int:
    if padding == "same":
        return size * stride
    return (size - 1) * stride + max((kernel - 1) * dilation + 1, stride)


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    picture = need_picture("Conv2DTranspose", inputs)
    check_dilation("Conv2DTranspose", params)
    height, width = (
        _length(size, kernel, stride, dilation, params["padding"])
        for size, kernel, stride, dilation in zip(
            picture[:2],
            params["kernel_size"],
            params["strides"],
            params["dilation_rate"],
            strict=True,
        )
    )
    if height * width > 2**31:
        raise ShapeProblem(
            "The output is too large",
            f"The output of Conv2DTranspose would be {height} × {width}.",
            ("set_strides:[1,1]",),
        )
    return (height, width, params["filters"])


def _count_params(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    height, width = params["kernel_size"]
    per_filter = height * width * inputs[0][-1] + bool(params["use_bias"])
    return ParamCount(params["filters"] * per_filter)


def _count_multiply_adds(params: Params, inputs: Sequence[Shape], output: Shape) -> int:
    return math.prod(inputs[0]) * math.prod(params["kernel_size"]) * int(params["filters"])


def _write(layer: OnnxLayer) -> OnnxValue:
    (value,), params = layer.inputs, layer.params
    kernel, bias = layer.weight("kernel"), bias_of(layer)
    pads, more = [0, 0, 0, 0], [0, 0]
    for axis in (0, 1):
        reach = (kernel.shape[axis] - 1) * params["dilation_rate"][axis] + 1
        surplus = (value.shape[axis] - 1) * params["strides"][axis] + reach - layer.shape[axis]
        pads[axis], pads[axis + 2] = max(0, surplus) // 2, -(-max(0, surplus) // 2)
        more[axis] = max(0, -surplus)
    name = layer.op(
        "ConvTranspose",
        layer.first(value),
        np.ascontiguousarray(kernel.transpose(3, 2, 0, 1)),
        *([] if bias is None else [bias]),
        strides=[*params["strides"]],
        dilations=[*params["dilation_rate"]],
        pads=pads,
        output_padding=more,
    )
    return activated(layer, name)


SPEC = convolution_layer(
    DILATION,
    key="conv2d_transpose",
    title="Conv2DTranspose",
    summary="Transposed convolution: it enlarges the image by the strides.",
    infer_shape=_infer_shape,
    count_params=_count_params,
    count_multiply_adds=_count_multiply_adds,
    training_class=TrainingClass.EXACT_BIAS,
    keywords=("deconvolution", "upsampling", "enlarge", "decoder"),
    onnx=_write,
)
