"""GaussianNoise: adds random numbers while training."""

from __future__ import annotations

from workbench.core.params import FloatParam
from workbench.core.specs import LayerSpec
from workbench.layers._common import same_shape

SPEC = LayerSpec(
    key="gaussian_noise",
    title="GaussianNoise",
    category="regularisation",
    summary="Adds normally distributed random numbers while training, so that the network "
    "becomes less sensitive to small changes. Does nothing when predicting.",
    params=(
        FloatParam(
            key="stddev",
            title="Strength",
            default=0.1,
            minimum=0.0,
            maximum=1000.0,
            step=0.05,
            help="Standard deviation of the noise, in units of the values it is added to.",
        ),
    ),
    infer_shape=same_shape,
    describe=lambda params: f"strength {params['stddev']:g}",
    randomness="stddev",
    keywords=("noise", "overfitting", "regularise", "random"),
)
