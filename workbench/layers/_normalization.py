"""What the normalization layers share. Not a plug-in itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.core.params import BoolParam, FloatParam, Param, Params
from workbench.core.specs import ParamCount, Shape
from workbench.layers._common import (
    affine_count,
    regularizer_params,
    vector_initializer_param,
    with_regularizers,
)


def epsilon_param() -> FloatParam:
    """The number that keeps the division safe."""
    return FloatParam(
        "epsilon",
        0.001,
        "Added to the variance to avoid division by zero.",
        is_minimum_excluded=True,
        maximum=1.0,
        step=0.001,
        is_advanced=True,
    )


def affine_params() -> tuple[Param, ...]:
    """Learned scale and offset per channel."""
    return (
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
            "Learns a factor per channel (gamma). Not needed right before a Dense or "
            "Conv2D layer without an activation in between.",
            title="Learn scale",
            is_advanced=True,
        ),
        vector_initializer_param("beta_initializer", "Offset initializer"),
        vector_initializer_param("gamma_initializer", "Scale initializer", "ones"),
        *regularizer_params("beta", "Offset"),
        *regularizer_params("gamma", "Scale"),
    )


def affine_arguments(params: Params) -> dict[str, Any]:
    """Keras arguments with the penalties on scale and offset."""
    return with_regularizers(params, ("beta", "gamma"))


def count_affine(params: Params, inputs: Sequence[Shape]) -> ParamCount:
    """Scale and offset per channel."""
    return affine_count(params, inputs[0][-1])


def affine_words(params: Params) -> list[str]:
    """What of scale and offset is switched off."""
    return ["" if params["center"] else "no offset", "" if params["scale"] else "no scale"]
