"""GaussianNoise: adds random numbers while training."""

from __future__ import annotations

from workbench.core.params import FloatParam
from workbench.core.specs import LayerSpec
from workbench.core.specs.layer import same
from workbench.layers._common import same_shape

SPEC = LayerSpec(
    key="gaussian_noise",
    title="GaussianNoise",
    category="regularization",
    summary="Adds normally distributed noise during training, so that the network becomes less "
    "sensitive to small changes. Inactive during prediction.",
    params=(
        FloatParam(
            "stddev",
            0.1,
            "Standard deviation of the noise, in units of the input values.",
            title="Standard deviation",
            maximum=1000.0,
            step=0.05,
        ),
    ),
    infer_shape=same_shape,
    is_linear=True,
    describe=lambda params: f"stddev {params['stddev']:g}",
    randomness="stddev",
    keywords=("noise", "overfitting", "regularize", "random"),
    onnx=same,
)
