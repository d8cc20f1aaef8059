"""ZeroPadding2D: rows and columns of zeros around the image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.params import Params
from workbench.core.specs import LayerSpec, Shape
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import describe_sides, need_picture, sides_arguments, sides_param


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    height, width, channels = need_picture("ZeroPadding2D", inputs)
    top, bottom, left, right = params["padding"]
    return (height + top + bottom, width + left + right, channels)


def _write(layer: OnnxLayer) -> OnnxValue:
    top, bottom, left, right = layer.params["padding"]
    pads = np.array([0, 0, top, left, 0, 0, bottom, right], np.int64)
    return layer.out(layer.op("Pad", layer.first(layer.inputs[0]), pads), is_channels_first=True)


SPEC = LayerSpec(
    key="zero_padding2d",
    title="ZeroPadding2D",
    category="core",
    summary="Adds rows and columns of zeros around the image.",
    params=(sides_param("padding", "Padding", 1, "Rows and columns of zeros at each side."),),
    infer_shape=_infer_shape,
    is_linear=True,
    describe=describe_sides("padding"),
    keras_arguments=sides_arguments("padding"),
    keywords=("border", "pad", "frame"),
    onnx=_write,
)
