"""GlobalMaxPooling2D: the largest value of each channel."""

from __future__ import annotations

from workbench.layers._convolution import global_pooling_layer
from workbench.layers._onnx import global_pooling

SPEC = global_pooling_layer(
    key="global_max_pooling2d",
    title="GlobalMaxPooling2D",
    summary="Keeps the largest value of each channel over the whole image.",
    keywords=("flatten", "gap", "max", "whole image"),
    onnx=global_pooling("GlobalMaxPool"),
)
