"""MaxPooling2D: the largest value of each window."""

from __future__ import annotations

from workbench.core.params import Params
from workbench.core.specs import Shape, TrainingClass
from workbench.layers._convolution import pooling_layer, strides_to
from workbench.layers._onnx import pooling


def _projection(shape: Shape, wanted: Shape) -> Params | None:
    size = strides_to(shape, wanted)
    return None if size is None else {"pool_size": size, "padding": "same"}


SPEC = pooling_layer(
    key="max_pooling2d",
    title="MaxPooling2D",
    summary="Keeps the largest value of each window: the image becomes smaller, strong features "
    "remain.",
    projection=_projection,
    training_class=TrainingClass.LINKED_POOLING,
    common_rank=3,
    keywords=("subsample", "downsample", "shrink", "max"),
    onnx=pooling("MaxPool"),
)
