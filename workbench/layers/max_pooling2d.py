"""MaxPooling2D: the largest value of each window."""

from __future__ import annotations

from workbench.core.params import Params
from workbench.core.specs import LayerSpec, Shape
from workbench.layers._convolution import strides_to
from workbench.layers._pooling import (
    describe_pooling,
    infer_pooling,
    pooling_params,
    with_strides,
)


def _projection(shape: Shape, wanted: Shape) -> Params | None:
    size = strides_to(shape, wanted)
    return None if size is None else {"pool_size": size, "padding": "same"}


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
    projection=_projection,
    common_rank=3,
    keywords=("subsample", "downsample", "shrink", "max"),
)
