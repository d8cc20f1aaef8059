"""RandomContrast: changes the contrast of images at random."""

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
    if not curve.is_straight:
        pictures, curve = curve.of(tf, pictures), Curve()
    mean = tf.reduce_mean(tf.cast(pictures, tf.float32), axis=(1, 2), keepdims=True)
    mean = mean * curve.scale + curve.offset
    factor = between(draw()[..., None], 1.0 - layer.factor[0], 1.0 + layer.factor[1])
    curve = curve.then(factor, mean * (1.0 - factor))
    return pictures, curve.then_clip(tf, *map(float, layer.value_range))


SPEC = augmentation_layer(
    key="random_contrast",
    title="RandomContrast",
    summary="Changes the contrast of each training image at random. Inactive during prediction.",
    params=(
        factor_param("factor", "Largest change", 0.2, 1.0, "Largest change of the contrast."),
        VALUE_RANGE,
    ),
    describe=describe_factor,
    pipeline_form=IntensityTransform(_curve, draws=1),
    keras_arguments=with_value_range,
    keywords=("augmentation", "color", "random"),
    onnx=same,
)
