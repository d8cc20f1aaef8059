"""What the random image layers share. Not a plug-in itself."""

from __future__ import annotations

from typing import Any

from workbench.core.params import ChoiceParam, FloatParam, Param, Params
from workbench.core.specs import LayerSpec
from workbench.layers._common import percent, picture_same_shape

VALUE_RANGES = {"0-255": (0, 255), "0-1": (0, 1), "-1-1": (-1, 1)}
"""Choice -> lowest and highest pixel value."""


def factor_param(key: str, title: str, default: float, maximum: float, words: str) -> FloatParam:
    """Largest change, as a share."""
    return FloatParam(key, default, words, title=title, maximum=maximum, step=0.05)


FILL: tuple[Param, ...] = (
    ChoiceParam(
        "fill_mode",
        "reflect",
        "How the gap at the borders is filled.",
        title="Fill",
        choices=("reflect", "nearest", "wrap", "constant"),
        titles={
            "reflect": "mirror the image",
            "nearest": "repeat the edge",
            "wrap": "repeat the image",
            "constant": "constant value",
        },
        is_advanced=True,
    ),
    ChoiceParam(
        "interpolation",
        "bilinear",
        "How values between pixels are computed.",
        choices=("bilinear", "nearest"),
        is_advanced=True,
    ),
    FloatParam(
        "fill_value",
        0.0,
        'Used when Fill is "constant value".',
        minimum=-1000.0,
        maximum=1000.0,
        step=1.0,
        is_advanced=True,
    ),
)
"""How places that come from outside the image are filled."""

VALUE_RANGE = ChoiceParam(
    "value_range",
    "0-255",
    "Range of the values at this point: 0 to 255, unless Rescaling comes before it.",
    title="Pixel values",
    choices=tuple(VALUE_RANGES),
    titles={"0-255": "0 to 255", "0-1": "0 to 1", "-1-1": "−1 to 1"},
    is_advanced=True,
)
"""The range that pixel values have at this place."""


def augmentation_layer(*, title: str, **more: Any) -> LayerSpec:
    """A layer type that changes images at random; arguments as of LayerSpec."""
    return LayerSpec(
        title=title,
        category="preprocessing",
        infer_shape=picture_same_shape(title),
        place="pipeline",
        **more,
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
