"""Operators that put numbers at other places: slices, padding, repetition, resizing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.exports._c.flat import NoCodeError, Operator, Values
from workbench.exports._c.lowering import Network
from workbench.exports._c.program import Buffer, Options, Part, Table, blank, merged, offset

_UNIT = 1024
"""Parts of a pixel of a resized image, as LiteRT has them."""

_MOST_SIDE = 32767


def reshape(network: Network, op: Operator) -> None:
    """RESHAPE, SQUEEZE, EXPAND_DIMS: the same numbers."""
    network.alias(op.outputs[0], op.inputs[0])


def shape(network: Network, op: Operator) -> None:
    """SHAPE: a constant here."""
    network.fix(op.outputs[0], np.array(network.tensors[op.inputs[0]].shape, np.float64))


def _copied(view: Callable[[Network, Operator, Values], Values]) -> Callable[..., None]:
    """An operator that gives a view of its input."""

    def copy(network: Network, op: Operator) -> None:
        image, (last,) = op.inputs[0], op.outputs
        tensor, output = network.tensors[image], network.tensors[last]
        known = network.constant(image)
        if known is not None:
            network.fix(last, view(network, op, known).reshape(output.shape))
            return
        whole = blank(tensor.shape)
        part = view(network, op, whole)
        axes = merged(part.shape, part.strides, blank(part.shape).strides, count=4, tensor=output)
        source = Part(network.rescaled(image, output), offset(part, whole))
        network.step("copy", source, Options("places", axes), network.new(last), tensor=output)

    return copy


def _strided_slice(network: Network, op: Operator, whole: Values) -> Values:
    begins, ends, strides = (network.integers(index) for index in op.inputs[1:4])
    masks, chosen = op.options, []
    if masks["ellipsisMask"] or masks["newAxisMask"]:
        raise NoCodeError("a slice with new axes", network.tensors[op.outputs[0]])
    for axis, (begin, end, stride) in enumerate(zip(begins, ends, strides, strict=True)):
        bit = 1 << axis
        if masks["shrinkAxisMask"] & bit:
            chosen.append(slice(begin, begin + 1 or None))
            continue
        first = None if masks["beginMask"] & bit else begin
        chosen.append(slice(first, None if masks["endMask"] & bit else end, stride))
    return whole[tuple(chosen)]


def _slice(network: Network, op: Operator, whole: Values) -> Values:
    begins, sizes = (network.integers(index) for index in op.inputs[1:3])
    rows = zip(begins, sizes, strict=True)
    return whole[tuple(slice(at, None if size < 0 else at + size) for at, size in rows)]


def _tile(network: Network, op: Operator, whole: Values) -> Values:
    many = network.integers(op.inputs[1])
    view = whole[tuple(each for _ in many for each in (None, slice(None)))]
    pairs = zip(many, whole.shape, strict=True)
    return np.broadcast_to(view, [size for pair in pairs for size in pair])


def _transpose(network: Network, op: Operator, whole: Values) -> Values:
    return whole.transpose(network.integers(op.inputs[1]))


def _broadcast(network: Network, op: Operator, whole: Values) -> Values:
    return np.broadcast_to(whole, network.tensors[op.outputs[0]].shape)


def concatenate(network: Network, op: Operator) -> None:
    """CONCATENATION: each input is copied to its place."""
    (last,) = op.outputs
    output = network.tensors[last]
    axis = op.options["axis"] % len(output.shape)
    sources = [network.rescaled(index, output) for index in op.inputs]
    buffer, whole, start = network.new(last), blank(output.shape), 0
    for index, source in zip(op.inputs, sources, strict=True):
        sizes = network.tensors[index].shape
        part = np.moveaxis(whole, axis, 0)[start : start + sizes[axis]]
        _put(network, last, source, np.moveaxis(part, 0, axis), Part(buffer, offset(part, whole)))
        start += sizes[axis]


def pad(network: Network, op: Operator) -> None:
    """PAD and PADV2."""
    image, (last,) = op.inputs[0], op.outputs
    output = network.tensors[last]
    margins = np.reshape(network.integers(op.inputs[1]), (-1, 2))
    value = output.zero
    if len(op.inputs) > 2:
        value = int(output.numbers(np.array(network.constant(op.inputs[2]))).item())
    source, buffer = network.rescaled(image, output), network.new(last)
    whole, sizes = blank(output.shape), network.tensors[image].shape
    rows = zip(margins[:, 0], sizes, strict=True)
    part = whole[tuple(slice(before, before + size) for before, size in rows)]
    network.step("fill", value, output.size, buffer, tensor=output)
    _put(network, last, source, part, Part(buffer, offset(part, whole)))


def _put(network: Network, last: int, source: Buffer, place: Values, to: Part) -> None:
    output = network.tensors[last]
    steps = blank(place.shape).strides
    axes = merged(place.shape, steps, place.strides, count=4, tensor=output)
    network.step("copy", source, Options("places", axes), to, tensor=output)


def resize(network: Network, op: Operator) -> None:
    """RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""
    image, (last,) = op.inputs[0], op.outputs
    tensor, output = network.tensors[image], network.tensors[last]
    if max(*tensor.shape, *output.shape) > _MOST_SIDE:
        raise NoCodeError("an image too large to be resized", output)
    source = network.rescaled(image, output)
    sides = [_side(op, tensor.shape[axis], output.shape[axis]) for axis in (1, 2)]
    tables = [Table("int16_t", np.asarray(each, np.int16)) for side in sides for each in side]
    _, height, width, channels = output.shape
    options = Options("grid", (height, width, channels, tensor.shape[2], *tables))
    network.step("resize", source, options, network.new(last), tensor=output)


def _side(op: Operator, before: int, after: int) -> list[Values]:
    """The two rows or columns of the input that each lies between, and the second one's part."""
    corners, half = bool(op.options["alignCorners"]), bool(op.options["halfPixelCenters"])
    places = np.arange(after)
    has_corners = corners and after > 1
    top, bottom = (before - 1, after - 1) if has_corners else (before, after)
    if op.kind == "RESIZE_NEAREST_NEIGHBOR":
        floats = (places.astype(np.float32) + np.float32(0.5 if half else 0)) * np.float32(
            top / bottom
        )
        nearest = np.clip(np.floor(floats + np.float32(0.5 if corners else 0)), 0, before - 1)
        return [nearest, nearest, np.zeros(after)]
    scale = (_UNIT * top + bottom // 2) // bottom
    exact = places * scale + (scale // 2 - _UNIT // 2 if half else 0)
    lower = np.maximum(exact // _UNIT, 0)
    upper = np.minimum(-(-exact // _UNIT), before - 1)
    part = np.where(exact < 0, 0, exact - lower * _UNIT)
    return [np.minimum(lower, before - 1), np.maximum(upper, 0), part]


KERNELS = {
    "BROADCAST_TO": _copied(_broadcast),
    "CONCATENATION": concatenate,
    "EXPAND_DIMS": reshape,
    "PAD": pad,
    "PADV2": pad,
    "RESHAPE": reshape,
    "RESIZE_BILINEAR": resize,
    "RESIZE_NEAREST_NEIGHBOR": resize,
    "SHAPE": shape,
    "SLICE": _copied(_slice),
    "SQUEEZE": reshape,
    "STRIDED_SLICE": _copied(_strided_slice),
    "TILE": _copied(_tile),
    "TRANSPOSE": _copied(_transpose),
}
