"""What the pooling layers share. Not a plug-in itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.core.params import BoolParam, Param, Params, SizeParam
from workbench.core.specs import LayerSpec, Shape
from workbench.layers._common import PADDING, join, need_picture, size_text, unless
from workbench.layers._convolution import MAX_KERNEL, window_refits, window_shape

POOLING_PARAMS: tuple[Param, ...] = (
    SizeParam("pool_size", (2, 2), "Height and width of the pooling window.", maximum=MAX_KERNEL),
    SizeParam(
        "strides",
        (0, 0),
        "Step of the window. Left empty, it is the pool size, so that windows do not overlap.",
        minimum=0,
        maximum=MAX_KERNEL,
        zero_text="same as pool size",
    ),
    PADDING,
)
"""Window, step and border; a step of 0 × 0 means the window's own size."""


def pooling_layer(*, title: str, **more: Any) -> LayerSpec:
    """A layer type that makes one value of each window; arguments as of LayerSpec."""

    def infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
        picture = need_picture(title, inputs)
        return window_shape(title, _with_strides(params), picture, picture[2], "pool_size")

    return LayerSpec(
        title=title,
        category="pooling",
        params=POOLING_PARAMS,
        infer_shape=infer_shape,
        describe=_describe,
        keras_arguments=_with_strides,
        refits=_refits,
        **more,
    )


def _with_strides(params: Params) -> dict[str, Any]:
    """The parameters with 0 in `strides` replaced by the window's size: Keras's arguments."""
    sizes = zip(params["strides"], params["pool_size"], strict=True)
    return {**params, "strides": tuple(stride or size for stride, size in sizes)}


def _refits(params: Params, output: Shape, wanted: Shape) -> Iterator[Params]:
    return window_refits(_with_strides(params), output, wanted)


def _describe(params: Params) -> str:
    window, strides = params["pool_size"], _with_strides(params)["strides"]
    stride = "" if strides == window else f"stride {size_text(strides)}"
    return join(size_text(window), stride, unless(params, "padding", "valid"))


def global_pooling_layer(*, title: str, **more: Any) -> LayerSpec:
    """A layer type that makes one value of each channel; arguments as of LayerSpec."""

    def infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
        channels = need_picture(title, inputs)[2]
        return (1, 1, channels) if params["keepdims"] else (channels,)

    keepdims = BoolParam(
        "keepdims",
        False,
        "Keeps height and width as axes of length 1: 1 × 1 × channels instead of channels.",
        title="Keep axes",
        is_advanced=True,
    )
    return LayerSpec(
        title=title,
        category="pooling",
        params=(keepdims,),
        infer_shape=infer_shape,
        describe=lambda params: "keeps axes" if params["keepdims"] else "",
        **more,
    )
