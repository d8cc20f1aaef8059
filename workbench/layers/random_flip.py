"""RandomFlip: mirrors pictures at random."""

from __future__ import annotations

from workbench.core.params import ChoiceParam
from workbench.core.specs import LayerSpec
from workbench.layers._common import picture_same_shape

SPEC = LayerSpec(
    key="random_flip",
    title="RandomFlip",
    category="preprocessing",
    summary="Mirrors each training image at random, for more variety. Inactive during prediction.",
    params=(
        ChoiceParam(
            key="mode",
            title="Direction",
            default="horizontal",
            choices=("horizontal", "vertical", "horizontal_and_vertical"),
            titles={"horizontal_and_vertical": "both"},
            help="horizontal swaps left and right, which suits most photos; vertical swaps top "
            "and bottom.",
        ),
    ),
    infer_shape=picture_same_shape("RandomFlip"),
    describe=lambda params: str(params["mode"]).replace("_", " "),
    place="pipeline",
    keywords=("augmentation", "mirror", "random"),
)
