"""RandomRotation: turns pictures at random."""

from __future__ import annotations

from workbench.core.params import Params
from workbench.core.specs import LayerSpec
from workbench.layers._augmentation import factor_param, fill_params
from workbench.layers._common import picture_same_shape


def _describe(params: Params) -> str:
    return f"± {params['factor'] * 360:g}°"


SPEC = LayerSpec(
    key="random_rotation",
    title="RandomRotation",
    category="preprocessing",
    summary="Rotates each training image by a random angle. Inactive during prediction.",
    params=(
        factor_param(
            "factor",
            "Largest rotation",
            0.05,
            1.0,
            "Largest angle in both directions, as a fraction of a full turn: 0.05 is 18 degrees.",
        ),
        *fill_params(),
    ),
    infer_shape=picture_same_shape("RandomRotation"),
    describe=_describe,
    place="pipeline",
    keywords=("augmentation", "rotate", "turn", "angle", "random"),
)
