"""Dropout: leaves out values at random while training."""

from __future__ import annotations

from workbench.core.specs import LayerSpec, TrainingClass
from workbench.core.specs.layer import same
from workbench.layers._common import describe_rate, rate_param, same_shape

SPEC = LayerSpec(
    key="dropout",
    title="Dropout",
    category="regularization",
    summary="Sets random values to zero during training, so that the network does not rely on "
    "single ones. Inactive during prediction.",
    params=(rate_param(0.25, "values"),),
    infer_shape=same_shape,
    is_linear=True,
    describe=describe_rate,
    randomness="rate",
    training_class=TrainingClass.FAST_DROPOUT,
    common_rank=6,
    keywords=("overfitting", "regularize", "random"),
    onnx=same,
)
