"""GaussianDropout: multiplies by random numbers while training."""

from __future__ import annotations

from workbench.core.specs import LayerSpec
from workbench.core.specs.layer import same
from workbench.layers._common import describe_rate, rate_param, same_shape

SPEC = LayerSpec(
    key="gaussian_dropout",
    title="GaussianDropout",
    category="regularization",
    summary="Multiplies values by random numbers around 1 while training.",
    params=(rate_param(0.25, "values"),),
    infer_shape=same_shape,
    describe=describe_rate,
    randomness="rate",
    keywords=("overfitting", "random"),
    onnx=same,
)
