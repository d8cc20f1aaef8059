"""SpatialDropout2D: leaves out whole channels at random while training."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.core.specs.layer import same
from workbench.layers._common import describe_rate, picture_same_shape, rate_param

SPEC = LayerSpec(
    key="spatial_dropout2d",
    title="SpatialDropout2D",
    category="regularization",
    summary="Sets whole channels to zero at random during training: stronger than Dropout "
    "between convolutions, where neighboring values are similar. Inactive during "
    "prediction.",
    params=(rate_param(0.25, "channels"),),
    infer_shape=picture_same_shape("SpatialDropout2D"),
    is_linear=True,
    describe=describe_rate,
    randomness="rate",
    keywords=("overfitting", "regularize", "channels", "random"),
    onnx=same,
)
