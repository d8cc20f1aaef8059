"""Arithmetic and parameters of the convolution family. Not a plug-in itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.core.format import shape_text
from workbench.core.params import BoolParam, IntParam, Param, Params, SizeParam
from workbench.core.specs import LayerSpec, Shape, ShapeProblem
from workbench.layers._common import (
    PADDING,
    activation_param,
    extras,
    join,
    need_picture,
    size_text,
    unless,
    weight_params,
    with_regularizers,
)

MAX_KERNEL = 1024
_USUAL_SIDE = 3


FILTERS = IntParam(
    "filters", 32, "Number of filters; each produces one output channel.", maximum=16_384
)
DEPTH_MULTIPLIER = IntParam(
    "depth_multiplier", 1, "Number of filters per input channel.", maximum=1024
)
WINDOW: tuple[Param, ...] = (
    SizeParam("kernel_size", (3, 3), "Height and width of the filter window.", maximum=MAX_KERNEL),
    SizeParam(
        "strides", (1, 1), "Step of the window. 2 halves height and width.", maximum=MAX_KERNEL
    ),
    PADDING,
)
DILATION = SizeParam(
    "dilation_rate",
    (1, 1),
    "Spacing between the values in a window; above 1 it covers a larger area with the same "
    "number of weights.",
    title="Dilation",
    maximum=MAX_KERNEL,
    is_advanced=True,
)
GROUPS = IntParam(
    "groups",
    1,
    "Splits the channels into separate groups. Must divide the input channels and the filters.",
    maximum=16_384,
    is_advanced=True,
)


def window_shape(
    title: str, params: Params, picture: Shape, channels: int, key: str = "kernel_size"
) -> Shape:
    """Shape after a window of the size `key` has slid over an image.

    Raises:
        ShapeProblem: the window is larger than the image.
    """
    (height, width), strides, window = picture[:2], params["strides"], params[key]
    if params["padding"] == "same":
        return (height - 1) // strides[0] + 1, (width - 1) // strides[1] + 1, channels
    dilation = params.get("dilation_rate", (1, 1))
    reach = tuple(d * (k - 1) + 1 for d, k in zip(dilation, window, strict=True))
    if reach[0] > height or reach[1] > width:
        spread = "" if tuple(window) == reach else f" (dilated to {shape_text(reach)})"
        raise ShapeProblem(
            f"The image is too small for {title}",
            f"A window of {shape_text(window)}{spread} does not fit into "
            f"{shape_text(picture[:2])}: the output would be empty.",
            ('set_padding:"same"', f"set_{key}:{_fitting(window, dilation, (height, width))}"),
        )
    return (height - reach[0]) // strides[0] + 1, (width - reach[1]) // strides[1] + 1, channels


def _fitting(window: Sequence[int], dilation: Sequence[int], size: Sequence[int]) -> list[int]:
    """The window with the usual size on each axis on which it does not fit, or the largest that
    does.
    """
    largest = [(side - 1) // step + 1 for side, step in zip(size, dilation, strict=True)]
    sides = zip(window, largest, strict=True)
    return [side if side <= most else min(_USUAL_SIDE, most) for side, most in sides]


def check_dilation(title: str, params: Params) -> None:
    """Rejects strides and dilation above 1 at once, as Keras does.

    Raises:
        ShapeProblem: both are above 1.
    """
    if max(params["strides"]) > 1 and max(params["dilation_rate"]) > 1:
        raise ShapeProblem(
            "Strides and dilation cannot be combined",
            f"{title} has strides of {shape_text(params['strides'])} and a dilation of "
            f"{shape_text(params['dilation_rate'])}; one of them must be 1 × 1.",
            ("set_dilation_rate:[1,1]", "set_strides:[1,1]"),
        )


def convolution_layer(
    *params: Param, kernels: Sequence[str] = ("kernel",), has_filters: bool = True, **more: Any
) -> LayerSpec:
    """A layer type of a window that slides over an image.

    Args:
        params: Those that not all such layers have.
        kernels: Names of its weights in Keras, without "bias".
        has_filters: Its parameter `filters` is the number of its output channels.
        more: As of LayerSpec.
    """
    if has_filters:
        more["width"] = FILTERS.key
    filters = (FILTERS,) if has_filters else ()
    return LayerSpec(
        category="convolution",
        is_linear=True,
        params=(*filters, *WINDOW, activation_param(), *params, *weight_params(*kernels)),
        describe=_describe,
        keras_arguments=with_regularizers,
        refits=_refits,
        **more,
    )


def _refits(params: Params, output: Shape, wanted: Shape) -> Iterator[Params]:
    yield from window_refits(params, output, wanted)
    if "filters" in params and len(wanted) == 3:
        yield {"filters": wanted[2]}


def window_refits(params: Params, output: Shape, wanted: Shape) -> Iterator[Params]:
    """Padding and strides with which a window may give the height and width that are wanted."""
    if len(output) != 3 or len(wanted) != 3:
        return
    same = {} if params["padding"] == "same" else {"padding": "same"}
    strides = params["strides"]
    ratios = [max(1, round(output[axis] / wanted[axis])) for axis in (0, 1)]
    steps = {(1, 1), tuple(step * ratio for step, ratio in zip(strides, ratios, strict=True))}
    others = [{"strides": step} for step in sorted(steps) if step != tuple(strides)]
    if same:
        yield same
    yield from others
    if same:
        yield from ({**step, **same} for step in others)


def _describe(params: Params) -> str:
    filters = params.get("filters")
    return join(
        f"{filters:,} filters" if filters and filters > 1 else "1 filter" if filters else "",
        size_text(params["kernel_size"]),
        unless(params, "depth_multiplier", 1, "depth × {}"),
        unless(params, "strides", (1, 1), "stride {}"),
        unless(params, "padding", "valid"),
        unless(params, "dilation_rate", (1, 1), "dilation {}"),
        unless(params, "groups", 1, "{} groups"),
        unless(params, "activation", "linear"),
        *extras(params),
    )


def strides_to(shape: Shape, wanted: Shape) -> tuple[int, int] | None:
    """The strides that bring an image to the height and width of another, with same padding.

    Returns:
        None where no strides do, and for shapes that are no images.
    """
    if len(shape) != 3 or len(wanted) != 3:
        return None
    rows, columns = -(-shape[0] // wanted[0]), -(-shape[1] // wanted[1])
    is_met = (-(-shape[0] // rows), -(-shape[1] // columns)) == tuple(wanted[:2])
    return (rows, columns) if is_met else None


# pooling -------------------------------------------------------------------------------------
# What the pooling layers share. Not a plug-in itself.

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
        describe=_describe_pooling,
        keras_arguments=_with_strides,
        refits=_pooling_refits,
        **more,
    )


def _with_strides(params: Params) -> dict[str, Any]:
    """The parameters with 0 in `strides` replaced by the window's size: Keras's arguments."""
    sizes = zip(params["strides"], params["pool_size"], strict=True)
    return {**params, "strides": tuple(stride or size for stride, size in sizes)}


def _pooling_refits(params: Params, output: Shape, wanted: Shape) -> Iterator[Params]:
    return window_refits(_with_strides(params), output, wanted)


def _describe_pooling(params: Params) -> str:
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
