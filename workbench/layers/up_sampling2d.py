"""UpSampling2D: enlarges the image by whole factors."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.params import ChoiceParam, Params, SizeParam
from workbench.core.specs import LayerSpec, Shape
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import (
    interpolates_in_float32,
    join,
    need_picture,
    size_text,
    unless,
)
from workbench.layers._resizing import resized


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    height, width, channels = need_picture("UpSampling2D", inputs)
    rows, columns = params["size"]
    return (height * rows, width * columns, channels)


def _describe(params: Params) -> str:
    return join(size_text(params["size"]), unless(params, "interpolation", "nearest"))


def _write(layer: OnnxLayer) -> OnnxValue:
    height, width, _ = layer.shape
    return resized(layer, layer.inputs[0], height, width, layer.params["interpolation"])


SPEC = LayerSpec(
    key="up_sampling2d",
    title="UpSampling2D",
    category="core",
    summary="Enlarges the image by whole factors, without weights.",
    params=(
        SizeParam(
            "size",
            (2, 2),
            "How often each row and column is repeated.",
            title="Factors",
            maximum=256,
        ),
        ChoiceParam(
            "interpolation",
            "nearest",
            "nearest repeats values; the others interpolate.",
            choices=("nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"),
        ),
    ),
    infer_shape=_infer_shape,
    describe=_describe,
    needs_float32=interpolates_in_float32,
    keywords=("enlarge", "upscale", "resize"),
    onnx=_write,
)
