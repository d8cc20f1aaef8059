"""Arithmetic and parameters of the convolution family. Not a plug-in itself."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.format import shape_text
from workbench.core.params import IntParam, Param, Params
from workbench.core.specs import Shape, ShapeProblem
from workbench.layers._common import extras, join, padding_param, size_param, size_text, unless

MAX_KERNEL = 1024


def filters_param() -> IntParam:
    """Number of output channels."""
    return IntParam(
        "filters", 32, "Number of filters; each produces one output channel.", maximum=16_384
    )


def depth_multiplier_param() -> IntParam:
    """Filters per input channel of a depthwise convolution."""
    return IntParam("depth_multiplier", 1, "Number of filters per input channel.", maximum=1024)


def window_params(*, kernel: int = 3) -> tuple[Param, ...]:
    """Kernel size, strides, padding."""
    return (
        size_param(
            "kernel_size",
            "Kernel size",
            kernel,
            "Height and width of the filter window.",
            maximum=MAX_KERNEL,
        ),
        size_param(
            "strides",
            "Strides",
            1,
            "Step of the window. 2 halves height and width.",
            maximum=MAX_KERNEL,
        ),
        padding_param(),
    )


def dilation_param() -> Param:
    """Gaps in the kernel."""
    return size_param(
        "dilation_rate",
        "Dilation",
        1,
        "Spacing between the values in a window; above 1 it covers a larger area with the same "
        "number of weights.",
        maximum=MAX_KERNEL,
        is_advanced=True,
    )


def groups_param() -> IntParam:
    """Independent groups of channels."""
    return IntParam(
        "groups",
        1,
        "Splits the channels into separate groups. Must divide the input channels and the filters.",
        maximum=16_384,
        is_advanced=True,
    )


def window_shape(title: str, params: Params, height: int, width: int, key: str) -> tuple[int, int]:
    """Height and width after a window has slid over the picture.

    Args:
        title: The layer's title for the message.
        params: With the window's size under `key`, strides, padding, maybe dilation_rate.
        height: Input height.
        width: Input width.
        key: "kernel_size" or "pool_size".

    Raises:
        ShapeProblem: the window is larger than the picture.
    """
    strides = params["strides"]
    if params["padding"] == "same":
        return (height - 1) // strides[0] + 1, (width - 1) // strides[1] + 1
    window = params[key]
    dilation = params.get("dilation_rate", (1, 1))
    reach = tuple(d * (k - 1) + 1 for d, k in zip(dilation, window, strict=True))
    if reach[0] > height or reach[1] > width:
        raise _too_small(title, window, reach, (height, width))
    return (height - reach[0]) // strides[0] + 1, (width - reach[1]) // strides[1] + 1


def _too_small(
    title: str, window: Sequence[int], reach: Sequence[int], picture: Sequence[int]
) -> ShapeProblem:
    spread = "" if tuple(window) == tuple(reach) else f" (dilated to {shape_text(reach)})"
    return ShapeProblem(
        f"The image is too small for {title}",
        f"A window of {shape_text(window)}{spread} does not fit into {shape_text(picture)}: the "
        "output would be empty.",
        ('set_padding:"same"',),
    )


def check_dilation(title: str, params: Params) -> None:
    """Refuses strides and dilation above 1 at once, as Keras does.

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


def describe_convolution(params: Params) -> str:
    """The settings of a convolution in words."""
    filters = params.get("filters")
    return join(
        [
            f"{filters} filters" if filters and filters > 1 else "1 filter" if filters else "",
            size_text(params["kernel_size"]),
            unless(params, "depth_multiplier", 1, "depth × {}")
            if "depth_multiplier" in params
            else "",
            unless(params, "strides", (1, 1), "stride {}"),
            unless(params, "padding", "valid"),
            unless(params, "dilation_rate", (1, 1), "dilation {}"),
            unless(params, "groups", 1, "{} groups") if "groups" in params else "",
            unless(params, "activation", "linear"),
            *extras(params),
        ]
    )


def output_shape(title: str, params: Params, picture: Shape, channels: int) -> Shape:
    """Shape after a convolution of a picture."""
    height, width = window_shape(title, params, picture[0], picture[1], "kernel_size")
    return (height, width, channels)


def strides_to(shape: Shape, wanted: Shape) -> tuple[int, int] | None:
    """The strides that bring a picture to the height and width of another, with same padding.

    Returns:
        None where no strides do, and for shapes that are no pictures.
    """
    if len(shape) != 3 or len(wanted) != 3:
        return None
    rows, columns = -(-shape[0] // wanted[0]), -(-shape[1] // wanted[1])
    is_met = (-(-shape[0] // rows), -(-shape[1] // columns)) == tuple(wanted[:2])
    return (rows, columns) if is_met else None
