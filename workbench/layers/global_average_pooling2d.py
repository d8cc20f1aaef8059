"""GlobalAveragePooling2D: the mean of each channel."""

from __future__ import annotations

from workbench.core.specs import Role
from workbench.layers._convolution import global_pooling_layer
from workbench.layers._onnx import global_pooling

SPEC = global_pooling_layer(
    key="global_average_pooling2d",
    is_linear=True,
    title="GlobalAveragePooling2D",
    summary="Averages each channel over the whole image: any image size becomes one value per "
    "channel, without weights.",
    role=Role.FLATTEN,
    keywords=("flatten", "gap", "average", "whole image"),
    onnx=global_pooling("GlobalAveragePool"),
)
