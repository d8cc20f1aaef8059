"""RandomZoom: enlarges or shrinks images at random."""

from __future__ import annotations

from typing import Any

from workbench.core.params import BoolParam, Params
from workbench.core.specs import AffineTransform, Draw, Matrix, between
from workbench.core.specs.layer import same
from workbench.layers._common import FILL, augmentation_layer, factor_param, plus_minus


def _keras_arguments(params: Params) -> dict[str, Any]:
    arguments = dict(params)
    if arguments.pop("keep_ratio"):
        arguments["width_factor"] = None
    return arguments


def _describe(params: Params) -> str:
    height, width = plus_minus(params["height_factor"]), plus_minus(params["width_factor"])
    return height if params["keep_ratio"] else f"{height} high, {width} wide"


def _matrix(tf: Any, layer: Any, draw: Draw, height: int, width: int) -> Matrix:
    high = between(draw(), 1.0 + layer.height_lower, 1.0 + layer.height_upper)
    wide = high
    if layer.width_factor is not None:
        wide = between(draw(), 1.0 + layer.width_lower, 1.0 + layer.width_upper)
    x, y = (width - 1) / 2, (height - 1) / 2
    return (wide, 0.0, x * (1.0 - wide)), (0.0, high, y * (1.0 - high))


SPEC = augmentation_layer(
    key="random_zoom",
    title="RandomZoom",
    summary="Zooms each training image at random. Inactive during prediction.",
    params=(
        factor_param("height_factor", "Height", 0.1, 0.9, "Largest change of the height."),
        BoolParam(
            "keep_ratio",
            True,
            "Zooms the width by the same factor as the height.",
            title="Keep proportions",
        ),
        factor_param(
            "width_factor",
            "Width",
            0.1,
            0.9,
            "Largest change of the width, if proportions are not kept.",
        ),
        *FILL,
    ),
    describe=_describe,
    pipeline_form=AffineTransform(_matrix, draws=2),
    keras_arguments=_keras_arguments,
    keywords=("augmentation", "scale", "enlarge", "random"),
    onnx=same,
)
