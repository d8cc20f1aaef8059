"""RandomZoom: enlarges or shrinks pictures at random."""

from __future__ import annotations

from typing import Any

from workbench.core.params import BoolParam, Params
from workbench.core.specs import LayerSpec
from workbench.layers._augmentation import factor_param, fill_params, plus_minus
from workbench.layers._common import picture_same_shape


def _keras_arguments(params: Params) -> dict[str, Any]:
    arguments = dict(params)
    if arguments.pop("keep_ratio"):
        arguments["width_factor"] = None
    return arguments


def _describe(params: Params) -> str:
    height, width = plus_minus(params["height_factor"]), plus_minus(params["width_factor"])
    return height if params["keep_ratio"] else f"{height} high, {width} wide"


SPEC = LayerSpec(
    key="random_zoom",
    title="RandomZoom",
    category="preprocessing",
    summary="Zooms each training image at random. Inactive during prediction.",
    params=(
        factor_param("height_factor", "Height", 0.1, 0.9, "Largest change of the height."),
        BoolParam(
            key="keep_ratio",
            title="Keep proportions",
            default=True,
            help="Zooms the width by the same factor as the height.",
        ),
        factor_param(
            "width_factor",
            "Width",
            0.1,
            0.9,
            "Largest change of the width, if proportions are not kept.",
        ),
        *fill_params(),
    ),
    infer_shape=picture_same_shape("RandomZoom"),
    describe=_describe,
    place="pipeline",
    keras_arguments=_keras_arguments,
    keywords=("augmentation", "scale", "enlarge", "random"),
)
