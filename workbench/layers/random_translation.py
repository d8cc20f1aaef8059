"""RandomTranslation: moves pictures at random."""

from __future__ import annotations

from workbench.core.params import Params
from workbench.core.specs import LayerSpec
from workbench.layers._augmentation import factor_param, fill_params, plus_minus
from workbench.layers._common import picture_same_shape


def _describe(params: Params) -> str:
    height, width = params["height_factor"], params["width_factor"]
    if height == width:
        return plus_minus(height)
    return f"{plus_minus(height)} high, {plus_minus(width)} wide"


SPEC = LayerSpec(
    key="random_translation",
    title="RandomTranslation",
    category="preprocessing",
    summary="Shifts each training image at random. Inactive during prediction.",
    params=(
        factor_param(
            "height_factor", "Up and down", 0.1, 1.0, "Largest shift, as a fraction of the height."
        ),
        factor_param(
            "width_factor", "Sideways", 0.1, 1.0, "Largest shift, as a fraction of the width."
        ),
        *fill_params(),
    ),
    infer_shape=picture_same_shape("RandomTranslation"),
    describe=_describe,
    place="pipeline",
    keywords=("augmentation", "shift", "move", "random"),
)
