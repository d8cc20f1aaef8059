"""RandomRotation: turns images at random."""

from __future__ import annotations

import math
from typing import Any

from workbench.core.params import Params
from workbench.core.specs import AffineTransform, Draw, Matrix, between
from workbench.core.specs.layer import same
from workbench.layers._common import FILL, augmentation_layer, factor_param


def _describe(params: Params) -> str:
    return f"± {params['factor'] * 360:g}°"


def _matrix(tf: Any, layer: Any, draw: Draw, height: int, width: int) -> Matrix:
    low, high = layer.factor
    angle = between(draw(), low, high) * (2 * math.pi)
    cos, sin = tf.cos(angle), tf.sin(angle)
    x, y = (width - 1) / 2, (height - 1) / 2
    return (cos, -sin, x - cos * x + sin * y), (sin, cos, y - sin * x - cos * y)


SPEC = augmentation_layer(
    key="random_rotation",
    title="RandomRotation",
    summary="Rotates each training image by a random angle. Inactive during prediction.",
    params=(
        factor_param(
            "factor",
            "Largest rotation",
            0.05,
            1.0,
            "Largest angle in both directions, as a fraction of a full turn: 0.05 is 18 degrees.",
        ),
        *FILL,
    ),
    describe=_describe,
    pipeline_form=AffineTransform(_matrix, draws=1),
    keywords=("augmentation", "rotate", "turn", "angle", "random"),
    onnx=same,
)
