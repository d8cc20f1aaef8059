"""GlobalAveragePooling2D: the mean of each channel."""

from __future__ import annotations

from workbench.core.specs import LayerSpec, Role
from workbench.layers._pooling import describe_global, infer_global, keepdims_param

SPEC = LayerSpec(
    key="global_average_pooling2d",
    title="GlobalAveragePooling2D",
    category="pooling",
    summary="Averages each channel over the whole image: any image size becomes one value per "
    "channel, without weights.",
    params=(keepdims_param(),),
    infer_shape=infer_global("GlobalAveragePooling2D"),
    describe=describe_global,
    role=Role.FLATTEN,
    keywords=("flatten", "gap", "average", "whole image"),
)
