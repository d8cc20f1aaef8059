"""What the pooling layers share. Not a plug-in itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from workbench.core.params import BoolParam, Param, Params, SizeParam
from workbench.core.specs import Shape
from workbench.layers._common import join, need_picture, padding_param, size_param, size_text
from workbench.layers._convolution import MAX_KERNEL, window_shape


def pooling_params() -> tuple[Param, ...]:
    """Window, step and border; a step of 0 × 0 stands for the window's own size."""
    return (
        size_param(
            "pool_size",
            "Pool size",
            2,
            "Height and width of the pooling window.",
            maximum=MAX_KERNEL,
        ),
        SizeParam(
            "strides",
            (0, 0),
            "Step of the window. Left empty, it is the pool size, so that windows do not overlap.",
            minimum=0,
            maximum=MAX_KERNEL,
            zero_text="same as pool size",
        ),
        padding_param(),
    )


def with_strides(params: Params) -> dict[str, Any]:
    """The parameters with 0 in `strides` replaced by the window's size: Keras's arguments."""
    sizes = zip(params["strides"], params["pool_size"], strict=True)
    return {**params, "strides": tuple(stride or size for stride, size in sizes)}


def infer_pooling(title: str) -> Callable[[Params, Sequence[Shape]], Shape]:
    """`infer_shape` of a pooling layer."""

    def infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
        height, width, channels = need_picture(title, inputs)
        rows, columns = window_shape(title, with_strides(params), height, width, "pool_size")
        return (rows, columns, channels)

    return infer_shape


def count_window_reads(params: Params, inputs: Sequence[Shape], output: Shape) -> int:
    """One addition for each value in each window."""
    return math.prod(output) * math.prod(params["pool_size"])


def describe_pooling(params: Params) -> str:
    """Window, step and border in words."""
    window, strides = params["pool_size"], with_strides(params)["strides"]
    return join(
        [
            size_text(window),
            "" if strides == window else f"stride {size_text(strides)}",
            "same" if params["padding"] == "same" else "",
        ]
    )


def keepdims_param() -> BoolParam:
    """Whether height and width stay as axes of length 1."""
    return BoolParam(
        "keepdims",
        False,
        "Keeps height and width as axes of length 1: 1 × 1 × channels instead of channels.",
        title="Keep axes",
        is_advanced=True,
    )


def infer_global(title: str) -> Callable[[Params, Sequence[Shape]], Shape]:
    """`infer_shape` of a global pooling layer."""

    def infer_shape(params: Params, inputs: Sequence[Shape]) -> Shape:
        channels = need_picture(title, inputs)[2]
        return (1, 1, channels) if params["keepdims"] else (channels,)

    return infer_shape


def describe_global(params: Params) -> str:
    """The setting that differs from the default."""
    return "keeps axes" if params["keepdims"] else ""
