"""Resizing: brings the image to a given size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.core.params import ChoiceParam, IntParam, Params
from workbench.core.specs import LayerSpec, Shape
from workbench.layers._common import interpolates_in_float32, join, need_picture, unless


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
)
