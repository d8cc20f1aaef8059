"""GlobalMaxPooling2D: the largest value of each channel."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.layers._pooling import describe_global, infer_global, keepdims_param

SPEC = LayerSpec(
    key="global_max_pooling2d",
    title="GlobalMaxPooling2D",
    category="pooling",
    summary="Keeps the largest value of each channel over the whole image.",
    params=(keepdims_param(),),
    infer_shape=infer_global("GlobalMaxPooling2D"),
    describe=describe_global,
    keywords=("flatten", "gap", "max", "whole image"),
)
