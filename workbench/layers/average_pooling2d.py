"""AveragePooling2D: the mean of each window."""

from __future__ import annotations

import math

from workbench.layers._convolution import pooling_layer
from workbench.layers._onnx import pooling

SPEC = pooling_layer(
    key="average_pooling2d",
    is_linear=True,
    title="AveragePooling2D",
    summary="Averages each window: the image becomes smaller and smoother.",
    # One addition for each value in each window.
    count_multiply_adds=lambda params, _, output: math.prod((*output, *params["pool_size"])),
    keywords=("subsample", "downsample", "shrink", "average", "mean"),
    onnx=pooling("AveragePool"),
)
