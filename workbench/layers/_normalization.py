"""What the normalization layers share. Not a plug-in itself."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.params import BoolParam, FloatParam, Param, Params
from workbench.core.specs import ParamCount, Shape
from workbench.layers._common import join, regularizer_params, vector_initializer_param

NORMALIZATION_PARAMS: tuple[Param, ...] = (
    FloatParam(
        "epsilon",
        0.001,
        "Added to the variance to avoid division by zero.",
        is_minimum_excluded=True,
        maximum=1.0,
        step=0.001,
        is_advanced=True,
    ),
    BoolParam(
        "center",
        True,
        "Learns an offset per channel (beta).",
        title="Learn offset",
        is_advanced=True,
    ),
    BoolParam(
        "scale",
        True,
        "Learns a factor per channel (gamma). Not needed right before a Dense or Conv2D layer "
        "without an activation in between.",
        title="Learn scale",
        is_advanced=True,
    ),
    vector_initializer_param("beta_initializer", "Offset initializer"),
    vector_initializer_param("gamma_initializer", "Scale initializer", "ones"),
    *regularizer_params("beta", "Offset"),
    *regularizer_params("gamma", "Scale"),
)
"""What keeps the division safe, and learned scale and offset per channel."""


def count_affine(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    """Scale and offset per channel."""
    return ParamCount(inputs[0][-1] * (bool(params["scale"]) + bool(params["center"])))


def describe_affine(params: Params, *words: str) -> str:
    """Other settings in words, and what of scale and offset is switched off."""
    center, scale = params["center"], params["scale"]
    return join(*words, "" if center else "no offset", "" if scale else "no scale")
