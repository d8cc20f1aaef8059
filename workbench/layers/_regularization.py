"""What the dropout layers share. Not a plug-in itself."""

from __future__ import annotations

from workbench.core.params import FloatParam, Params
from workbench.layers._common import percent


def rate_param(default: float, words: str) -> FloatParam:
    """Share of values left out at each step."""
    return FloatParam(
        "rate",
        default,
        f"Fraction of {words} set to zero at each training step; inactive during prediction.",
        maximum=1.0,
        is_maximum_excluded=True,
        step=0.05,
    )


def describe_rate(params: Params) -> str:
    """The rate in percent."""
    return percent(params["rate"])
