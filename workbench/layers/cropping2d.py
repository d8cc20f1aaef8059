"""Cropping2D: cuts rows and columns off the image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.format import shape_text
from workbench.core.params import Params
from workbench.core.specs import LayerSpec, Shape, ShapeProblem
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import describe_sides, need_picture, sides_arguments, sides_param


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    height, width, channels = need_picture("Cropping2D", inputs)
    top, bottom, left, right = params["cropping"]
    rows, columns = height - top - bottom, width - left - right
    if rows <= 0 or columns <= 0:
        raise ShapeProblem(
            "Nothing is left of the image",
            f"Cropping2D removes {top + bottom} rows and {left + right} columns from an image of "
            f"{shape_text((height, width))}.",
            ("set_cropping:[0,0,0,0]",),
        )
    return (rows, columns, channels)


def _write(layer: OnnxLayer) -> OnnxValue:
    top, _, left, _ = layer.params["cropping"]
    height, width, _ = layer.shape
    name = layer.op(
        "Slice",
        layer.first(layer.inputs[0]),
        np.array([top, left], np.int64),
        np.array([top + height, left + width], np.int64),
        np.array([2, 3], np.int64),
    )
    return layer.out(name, is_channels_first=True)


SPEC = LayerSpec(
    key="cropping2d",
    title="Cropping2D",
    category="core",
    summary="Removes rows and columns at the sides of the image.",
    params=(sides_param("cropping", "Cropping", 0, "Rows and columns to remove at each side."),),
    infer_shape=_infer_shape,
    is_linear=True,
    describe=describe_sides("cropping"),
    keras_arguments=sides_arguments("cropping"),
    keywords=("border", "crop", "cut"),
    onnx=_write,
)
