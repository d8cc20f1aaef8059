"""What the random picture layers share. Not a plug-in itself."""

from __future__ import annotations

from typing import Any

from workbench.core.params import ChoiceParam, FloatParam, Param, Params
from workbench.layers._common import percent

VALUE_RANGES = {"0-255": (0, 255), "0-1": (0, 1), "-1-1": (-1, 1)}
"""Choice -> lowest and highest pixel value."""


def factor_param(key: str, title: str, default: float, maximum: float, words: str) -> FloatParam:
    """Largest change, as a share."""
    return FloatParam(
        key=key,
        title=title,
        default=default,
        minimum=0.0,
        maximum=maximum,
        step=0.05,
        help=words,
    )


def fill_params() -> tuple[Param, ...]:
    """How places that come from outside the picture are filled."""
    return (
        ChoiceParam(
            key="fill_mode",
            title="Fill",
            default="reflect",
            choices=("reflect", "nearest", "wrap", "constant"),
            titles={
                "reflect": "mirror the image",
                "nearest": "repeat the edge",
                "wrap": "repeat the image",
                "constant": "constant value",
            },
            help="How the gap at the borders is filled.",
            is_advanced=True,
        ),
        ChoiceParam(
            key="interpolation",
            title="Interpolation",
            default="bilinear",
            choices=("bilinear", "nearest"),
            help="How values between pixels are computed.",
            is_advanced=True,
        ),
        FloatParam(
            key="fill_value",
            title="Fill value",
            default=0.0,
            minimum=-1000.0,
            maximum=1000.0,
            step=1.0,
            help='Used when Fill is "constant value".',
            is_advanced=True,
        ),
    )


def value_range_param() -> ChoiceParam:
    """The range that pixel values have at this place."""
    return ChoiceParam(
        key="value_range",
        title="Pixel values",
        default="0-255",
        choices=tuple(VALUE_RANGES),
        titles={"0-255": "0 to 255", "0-1": "0 to 1", "-1-1": "−1 to 1"},
        help="Range of the values at this point: 0 to 255, unless Rescaling comes before it.",
        is_advanced=True,
    )


def with_value_range(params: Params) -> dict[str, Any]:
    """Keras arguments with the range as two numbers."""
    return {**params, "value_range": VALUE_RANGES[params["value_range"]]}


def plus_minus(share: float) -> str:
    """A symmetric range in words: ± 10%."""
    return f"± {percent(share)}"


def describe_factor(params: Params) -> str:
    """The one factor in words."""
    return plus_minus(params["factor"])
