"""MaxPooling2D: the largest value of each window."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.layers._pooling import (
    describe_pooling,
    infer_pooling,
    pooling_params,
    with_strides,
)

SPEC = LayerSpec(
    key="max_pooling2d",
    title="MaxPooling2D",
    category="pooling",
    summary="Keeps the largest value of each window: the image becomes smaller, strong features "
    "remain.",
    params=pooling_params(),
    infer_shape=infer_pooling("MaxPooling2D"),
    describe=describe_pooling,
    keras_arguments=with_strides,
    keywords=("subsample", "downsample", "shrink", "max"),
)
