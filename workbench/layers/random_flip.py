"""RandomFlip: mirrors images at random."""

from __future__ import annotations

from typing import Any

from workbench.core.params import ChoiceParam
from workbench.core.specs import AffineTransform, Draw, Matrix
from workbench.core.specs.layer import same
from workbench.layers._common import augmentation_layer

_FLIPPED_BELOW = 0.5


def _matrix(tf: Any, layer: Any, draw: Draw, height: int, width: int) -> Matrix:
    # One draw for both directions, as in Keras.
    sign = tf.where(draw() <= _FLIPPED_BELOW, -1.0, 1.0)
    is_wide, is_high = "horizontal" in layer.mode, "vertical" in layer.mode
    x, y = (sign if is_wide else 1.0), (sign if is_high else 1.0)
    return (x, 0.0, (1.0 - x) / 2 * (width - 1)), (0.0, y, (1.0 - y) / 2 * (height - 1))


SPEC = augmentation_layer(
    key="random_flip",
    title="RandomFlip",
    summary="Mirrors each training image at random, for more variety. Inactive during prediction.",
    params=(
        ChoiceParam(
            "mode",
            "horizontal",
            "horizontal swaps left and right, which suits most photos; vertical swaps top "
            "and bottom.",
            title="Direction",
            choices=("horizontal", "vertical", "horizontal_and_vertical"),
            titles={"horizontal_and_vertical": "both"},
        ),
    ),
    describe=lambda params: str(params["mode"]).replace("_", " "),
    pipeline_form=AffineTransform(_matrix, draws=1),
    keywords=("augmentation", "mirror", "random"),
    onnx=same,
)
