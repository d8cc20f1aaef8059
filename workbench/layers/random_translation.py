"""RandomTranslation: moves images at random."""

from __future__ import annotations

from typing import Any

from workbench.core.params import Params
from workbench.core.specs import AffineTransform, Draw, Matrix, between
from workbench.core.specs.layer import same
from workbench.layers._common import FILL, augmentation_layer, factor_param, plus_minus


def _describe(params: Params) -> str:
    height, width = params["height_factor"], params["width_factor"]
    if height == width:
        return plus_minus(height)
    return f"{plus_minus(height)} high, {plus_minus(width)} wide"


def _matrix(tf: Any, layer: Any, draw: Draw, height: int, width: int) -> Matrix:
    down = between(draw(), layer.height_lower, layer.height_upper) * height
    right = between(draw(), layer.width_lower, layer.width_upper) * width
    return (1.0, 0.0, -right), (0.0, 1.0, -down)


SPEC = augmentation_layer(
    key="random_translation",
    title="RandomTranslation",
    summary="Shifts each training image at random. Inactive during prediction.",
    params=(
        factor_param(
            "height_factor", "Up and down", 0.1, 1.0, "Largest shift, as a fraction of the height."
        ),
        factor_param(
            "width_factor", "Sideways", 0.1, 1.0, "Largest shift, as a fraction of the width."
        ),
        *FILL,
    ),
    describe=_describe,
    pipeline_form=AffineTransform(_matrix, draws=2),
    keywords=("augmentation", "shift", "move", "random"),
    onnx=same,
)
