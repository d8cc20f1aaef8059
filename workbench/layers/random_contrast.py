"""RandomContrast: changes the contrast of pictures at random."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.layers._augmentation import (
    describe_factor,
    factor_param,
    value_range_param,
    with_value_range,
)
from workbench.layers._common import picture_same_shape

SPEC = LayerSpec(
    key="random_contrast",
    title="RandomContrast",
    category="preprocessing",
    summary="Changes the contrast of each training image at random. Inactive during prediction.",
    params=(
        factor_param("factor", "Largest change", 0.2, 1.0, "Largest change of the contrast."),
        value_range_param(),
    ),
    infer_shape=picture_same_shape("RandomContrast"),
    describe=describe_factor,
    place="pipeline",
    keras_arguments=with_value_range,
    keywords=("augmentation", "color", "random"),
)
