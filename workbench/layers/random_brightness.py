"""RandomBrightness: makes pictures lighter or darker at random."""

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
    key="random_brightness",
    title="RandomBrightness",
    category="preprocessing",
    summary="Changes the brightness of each training image at random. Inactive during prediction.",
    params=(
        factor_param(
            "factor",
            "Largest change",
            0.2,
            1.0,
            "Largest change, as a fraction of the value range.",
        ),
        value_range_param(),
    ),
    infer_shape=picture_same_shape("RandomBrightness"),
    describe=describe_factor,
    place="pipeline",
    keras_arguments=with_value_range,
    keywords=("augmentation", "light", "dark", "color", "random"),
)
