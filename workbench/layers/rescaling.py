"""Rescaling: every value times a factor plus an offset."""

from __future__ import annotations

from typing import Any

from workbench.core.params import FloatParam, Params
from workbench.core.specs import Curve, Draw, IntensityTransform, LayerSpec, ValueRange
from workbench.core.specs.layer import OnnxLayer, OnnxValue
from workbench.layers._common import one_per_value, same_shape
from workbench.layers._onnx import number


def _describe(params: Params) -> str:
    scale, offset = params["scale"], params["offset"]
    words = f"÷ {1 / scale:g}" if scale and abs(scale) < 1 else f"× {scale:g}"
    return f"{words} {'+' if offset > 0 else '−'} {abs(offset):g}" if offset else words


def _range_of(params: Params, values: ValueRange) -> ValueRange:
    ends = sorted(value * params["scale"] + params["offset"] for value in values)
    return ends[0], ends[1]


def _curve(tf: Any, layer: Any, draw: Draw, pictures: Any, curve: Curve) -> tuple[Any, Curve]:
    if layer.scale < 0:  # bounds would change places
        return Curve(layer.scale, layer.offset).of(tf, curve.of(tf, pictures)), Curve()
    return pictures, curve.then(float(layer.scale), float(layer.offset))


def _write(layer: OnnxLayer) -> OnnxValue:
    scaled = layer.mapped("Mul", layer.inputs[0], number(layer.params["scale"]))
    return layer.mapped("Add", scaled, number(layer.params["offset"]))


SPEC = LayerSpec(
    key="rescaling",
    title="Rescaling",
    category="preprocessing",
    summary="Multiplies every value by a scale and adds an offset: 1/255 maps pixels from 0–255 "
    "to 0–1.",
    params=(
        FloatParam(
            "scale",
            1 / 255,
            "Factor for every value. 1/255 is 0.00392157.",
            minimum=-1e6,
            maximum=1e6,
            step=0.001,
        ),
        FloatParam(
            "offset",
            0.0,
            "Added after scaling. With a scale of 1/127.5, -1 gives -1 to 1.",
            minimum=-1e6,
            maximum=1e6,
            step=0.1,
        ),
    ),
    infer_shape=same_shape,
    range_of=_range_of,
    count_multiply_adds=one_per_value,
    describe=_describe,
    place="either",
    pipeline_form=IntensityTransform(_curve),
    common_rank=12,
    keywords=("scale", "normalize", "255", "divide"),
    onnx=_write,
)
