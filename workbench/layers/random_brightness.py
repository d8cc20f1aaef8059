"""RandomBrightness: makes images lighter or darker at random."""

from __future__ import annotations

from typing import Any

from workbench.core.specs import Curve, Draw, IntensityTransform, between
from workbench.core.specs.layer import same
from workbench.layers._common import (
    VALUE_RANGE,
    augmentation_layer,
    describe_factor,
    factor_param,
    with_value_range,
)


def _curve(tf: Any, layer: Any, draw: Draw, pictures: Any, curve: Curve) -> tuple[Any, Curve]:
    low, high = map(float, layer.value_range)
    more = between(draw()[..., None], *layer.factor) * (high - low)
    return pictures, curve.then(1.0, more).then_clip(tf, low, high)


SPEC = augmentation_layer(
    key="random_brightness",
    title="RandomBrightness",
    summary="Changes the brightness of each training image at random. Inactive during prediction.",
    params=(
        factor_param(
            "factor",
            "Largest change",
            0.2,
            1.0,
            "Largest change, as a fraction of the value range.",
        ),
        VALUE_RANGE,
    ),
    describe=describe_factor,
    pipeline_form=IntensityTransform(_curve, draws=1),
    keras_arguments=with_value_range,
    keywords=("augmentation", "light", "dark", "color", "random"),
    onnx=same,
)
