"""RandomFlip: mirrors pictures at random."""

from __future__ import annotations

from typing import Any

from workbench.core.params import ChoiceParam
from workbench.core.specs import AffineTransform, Draw, LayerSpec, Matrix
from workbench.layers._common import picture_same_shape

_FLIPPED_BELOW = 0.5


def _matrix(tf: Any, layer: Any, draw: Draw, height: int, width: int) -> Matrix:
    # One draw for both directions, as in Keras.
    sign = tf.where(draw() <= _FLIPPED_BELOW, -1.0, 1.0)
    is_wide, is_high = "horizontal" in layer.mode, "vertical" in layer.mode
    x, y = (sign if is_wide else 1.0), (sign if is_high else 1.0)
    return (x, 0.0, (1.0 - x) / 2 * (width - 1)), (0.0, y, (1.0 - y) / 2 * (height - 1))


SPEC = LayerSpec(
    key="random_flip",
    title="RandomFlip",
    category="preprocessing",
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
    infer_shape=picture_same_shape("RandomFlip"),
    describe=lambda params: str(params["mode"]).replace("_", " "),
    place="pipeline",
    pipeline_form=AffineTransform(_matrix, draws=1),
    keywords=("augmentation", "mirror", "random"),
)
