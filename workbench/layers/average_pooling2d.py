"""AveragePooling2D: the mean of each window."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.layers._pooling import (
    count_window_reads,
    describe_pooling,
    infer_pooling,
    pooling_params,
    with_strides,
)

SPEC = LayerSpec(
    key="average_pooling2d",
    title="AveragePooling2D",
    category="pooling",
    summary="Averages each window: the image becomes smaller and smoother.",
    params=pooling_params(),
    infer_shape=infer_pooling("AveragePooling2D"),
    count_multiply_adds=count_window_reads,
    describe=describe_pooling,
    keras_arguments=with_strides,
    keywords=("subsample", "downsample", "shrink", "average", "mean"),
)
