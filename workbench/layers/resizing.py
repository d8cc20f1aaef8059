"""Resizing: brings the image to a given size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.core.params import ChoiceParam, IntParam, Params
from workbench.core.specs import LayerSpec, Shape
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import interpolates_in_float32, join, need_picture, unless
from workbench.layers._resizing import resized


def _side(key: str, title: str) -> IntParam:
    return IntParam(key, 32, f"{title} of the resized image.", title=title, maximum=8192, unit="px")


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    channels = need_picture("Resizing", inputs)[2]
    return (params["height"], params["width"], channels)


def _keras_arguments(params: Params) -> dict[str, Any]:
    arguments = dict(params)
    fit = arguments.pop("fit")
    return {
        **arguments,
        "crop_to_aspect_ratio": fit == "crop",
        "pad_to_aspect_ratio": fit == "pad",
    }


def _describe(params: Params) -> str:
    return join(
        f"{params['height']}×{params['width']}",
        unless(params, "interpolation", "bilinear"),
        unless(params, "fit", "stretch"),
    )


def _stops_learning(params: Params) -> bool:
    return bool(params["interpolation"] == "area")


def _write(layer: OnnxLayer) -> OnnxValue:
    (value,), params = layer.inputs, layer.params
    height, width = params["height"], params["width"]
    if params["fit"] != "stretch":
        value = _fitted(layer, value, is_crop=params["fit"] == "crop")
    return resized(layer, value, height, width, params["interpolation"])


def _fitted(layer: OnnxLayer, value: OnnxValue, *, is_crop: bool) -> OnnxValue:
    """The image cropped, or padded with zeros, to about the proportions of the output, as in Keras:
    what is cropped or padded is the same at both sides.
    """
    (rows, columns, channels), (height, width, _) = value.shape, layer.shape
    tall, wide = columns * height // width, rows * width // height
    name = layer.first(value)
    if is_crop:
        shape = max(1, min(rows, tall)), max(1, min(columns, wide))
        starts = [(rows - shape[0]) // 2, (columns - shape[1]) // 2]
        ends = [starts[0] + shape[0], starts[1] + shape[1]]
        bounds = (np.array(each, np.int64) for each in (starts, ends, [2, 3]))
        name = layer.op("Slice", name, *bounds)
    else:
        more = [(max(rows, tall) - rows) // 2, (max(columns, wide) - columns) // 2]
        shape = rows + 2 * more[0], columns + 2 * more[1]
        name = layer.op("Pad", name, np.array([0, 0, *more, 0, 0, *more], np.int64))
    return OnnxValue(name, (*shape, channels), is_channels_first=True)


SPEC = LayerSpec(
    key="resizing",
    title="Resizing",
    category="preprocessing",
    summary="Resizes the image to a given height and width.",
    params=(
        _side("height", "Height"),
        _side("width", "Width"),
        ChoiceParam(
            "interpolation",
            "bilinear",
            "How values between pixels are computed.",
            choices=("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5"),
        ),
        ChoiceParam(
            "fit",
            "stretch",
            "If proportions differ: stretch the image, crop what does not fit, or pad with zeros.",
            choices=("stretch", "crop", "pad"),
        ),
    ),
    infer_shape=_infer_shape,
    describe=_describe,
    needs_float32=interpolates_in_float32,
    stops_learning=_stops_learning,
    place="either",
    keras_arguments=_keras_arguments,
    keywords=("scale", "size", "shrink", "enlarge"),
    onnx=_write,
)
