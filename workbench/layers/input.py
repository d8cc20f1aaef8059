"""Input: where the images come in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.core.format import shape_text
from workbench.core.params import Params, SizeParam
from workbench.core.specs import LayerSpec, Role, Shape
from workbench.core.specs.layer import OnnxLayer, OnnxValue


def _infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
    height, width, channels = params["shape"]
    return (height, width, channels)


def _keras_arguments(params: Params) -> dict[str, Any]:
    return {"shape": tuple(params["shape"])}


def _write(layer: OnnxLayer) -> OnnxValue:
    return layer.mapped("Cast", layer.inputs[0], to=1)


SPEC = LayerSpec(
    key="input",
    title="Input",
    category="input",
    summary="Input images. Every image is resized to this shape; pixel values are raw, from 0 "
    "to 255.",
    params=(
        SizeParam(
            "shape",
            (32, 32, 3),
            "Height, width and channels of the images: 3 channels for color, 1 for grayscale.",
            title="Input shape",
            axes=("height", "width", "channels"),
            maximum=16_384,
        ),
    ),
    infer_shape=_infer_shape,
    describe=lambda params: shape_text(params["shape"]),
    min_inputs=0,
    max_inputs=0,
    keras_arguments=_keras_arguments,
    role=Role.INPUT,
    common_rank=1,
    keywords=("picture", "image", "start", "shape", "inputlayer", "input_shape"),
    onnx=_write,
)
