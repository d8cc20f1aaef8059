"""The numbers of images of more than 8 bits, as their files store them.

Pillow keeps the upper byte of 16-bit colors, takes unsigned numbers of 32 bits and signed ones of
8 for others, does not turn inverted gray around, and reads some TIFF files in the wrong order of
bytes: here that is put right.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from workbench.pictures.portable.ranges import (
    Range,
    eight_bits,
    evidence_of,
    infer,
    num_clipped,
    read_range,
    stretched,
)

Numbers = np.ndarray[Any, np.dtype[Any]]

_BITS, _PHOTOMETRIC, _PLANAR, _STRIPS, _SIZES, _FORMAT = 258, 262, 284, 273, 279, 339
"""TIFF tags."""

_WHOLE = Range(0, 65_535)

_OTHER_BYTE = {
    "16B": "16L",
    "16L": "16B",
    "16N": "16B" if sys.byteorder == "little" else "16L",
}
"""By Pillow's names for the order of bytes: what gives the lower byte instead of the upper."""

_NATIVE = {
    "I;16BS": "I;16NS",
    "I;32BS": "I;32NS",
    "F;32BF": "F;32NF",
    "F;64BF": "F;64NF",
}
"""What libtiff has decoded is in this machine's order of bytes already."""


class Deep(NamedTuple):
    """The numbers of an image of more than 8 bits.

    Attributes:
        values: (height, width) or (height, width, 2 to 4), the last with transparency of even ones.
        stated: The range that the format states; None where it states none.
        is_fixed: No other range can be right.
        is_inverted: The least number is white.
    """

    values: Numbers
    stated: Range | None = None
    is_fixed: bool = False
    is_inverted: bool = False

    @property
    def color(self) -> Numbers:
        """The numbers without transparency."""
        if self.values.ndim == 2:
            return self.values
        return self.values[..., : self.values.shape[2] - 1 + self.values.shape[2] % 2]

    def image(self, value_range: str) -> Image.Image:
        """The image with 8 bits; `value_range` is black and white, "" for what fits the numbers."""
        given = read_range(value_range)
        if given is None or self.is_fixed:
            given = self.stated or self._inferred()
        color = eight_bits(self.color, given.low, given.high)
        if self.is_inverted:
            color = 255 - color
        if color.ndim == 3 and color.shape[2] < self.values.shape[2]:
            opacity = eight_bits(self.values[..., -1:], _WHOLE.low, _WHOLE.high)
            color = np.concatenate([color, opacity], axis=2)
        return Image.fromarray(np.ascontiguousarray(color))

    def share_cut(self, value_range: str) -> float:
        """Share of the numbers that are beyond a range; 0 where it is not used."""
        given = read_range(value_range)
        if given is None or self.is_fixed:
            return 0.0
        return num_clipped(self.color, given.low, given.high) / self.color.size

    def _inferred(self) -> Range:
        known = evidence_of(self.color)
        return infer(known) or stretched(known)


def deep(image: Any, kind: str, reopen: Callable[[], Any]) -> Deep | None:
    """The numbers of an opened image; loads it.

    Args:
        image: Pillow's, not yet loaded.
        kind: What the file is, by Pillow's name.
        reopen: Opens it once more.

    Returns:
        None for an image that is one of 8 bits to Pillow.
    """
    tags = getattr(image, "tag_v2", {}) if kind == "TIFF" else {}
    bits, sample = tags.get(_BITS, (8,)), tags.get(_FORMAT, (1,))
    _in_native_order(image)
    is_color = (bits[0] == 16 and len(bits) > 1) or (
        kind == "PNG" and _raw_mode(image.tile[0]).endswith(";16B")
    )
    if tags and is_color and tags.get(_PLANAR) == 2 and image.tile[0][0] == "raw":
        return Deep(_planes(image, tags, len(bits)), _WHOLE)
    image.load()
    is_inverted = tags.get(_PHOTOMETRIC) == 0
    if image.mode == "F" or image.mode.startswith("I"):
        values = np.asarray(image)
        if image.mode == "I" and bits[0] == 32 and sample[0] == 1 and tags:
            values = values.view(np.uint32)
        states = image.mode.startswith("I;16") or kind in {"PPM", "PNG"}
        return Deep(values, _WHOLE if states else None, kind == "PPM", is_inverted)
    if image.mode == "L" and tags and bits[0] == 8 and sample[0] == 2:
        return Deep(np.asarray(image).view(np.int8), is_inverted=is_inverted)
    if is_color and "transparency" not in image.info:
        return _of_two_bytes(np.asarray(image), reopen())
    return None


def _raw_mode(tile: Any) -> str:
    return str(tile[3] if isinstance(tile[3], str) else tile[3][0])


def _with_mode(tile: Any, mode: str) -> Any:
    arguments = mode if isinstance(tile[3], str) else (mode, *tile[3][1:])
    return (
        tile._replace(args=arguments)
        if hasattr(tile, "_replace")
        else (*tile[:3], arguments)
    )


def _in_native_order(image: Any) -> None:
    tiles = getattr(image, "tile", [])
    if tiles and tiles[0][0] == "libtiff" and _raw_mode(tiles[0]) in _NATIVE:
        image.tile = [_with_mode(tile, _NATIVE[_raw_mode(tile)]) for tile in tiles]


def _of_two_bytes(upper: Numbers, again: Any) -> Deep | None:
    """Colors of 16 bits: their upper bytes, and the lower ones of another decoding."""
    channels, _, order = _raw_mode(again.tile[0]).partition(";")
    if order not in _OTHER_BYTE or channels not in {"RGB", "RGBX", "RGBA", "LA"}:
        return None
    if channels == "LA":  # Pillow has its four bytes as one of RGBA
        again.tile = [_with_mode(tile, "RGBA") for tile in again.tile]
        pairs = np.asarray(again).astype(np.uint16)
        return Deep(pairs[..., 0::2] << 8 | pairs[..., 1::2], _WHOLE)
    lower_mode = f"{channels};{_OTHER_BYTE[order]}"
    again.tile = [_with_mode(tile, lower_mode) for tile in again.tile]
    return Deep(upper.astype(np.uint16) << 8 | np.asarray(again), _WHOLE)


def _planes(image: Any, tags: Any, count: int) -> Numbers:
    """Uncompressed channels of 16 bits, one after another."""
    if _STRIPS not in tags or image.mode not in {"RGB", "RGBA"}:
        raise ValueError("channels of 16 bits in tiles")
    data = b""
    for offset, size in zip(tags[_STRIPS], tags[_SIZES], strict=False):
        image.fp.seek(offset)
        data += image.fp.read(size)
    width, height = image.size
    order = ">u2" if _raw_prefix(image) == b"MM" else "<u2"
    needed = 2 * count * width * height
    if len(data) < needed:
        raise ValueError("truncated strips")
    planes = np.frombuffer(data[:needed], order).reshape(count, height, width)
    return np.moveaxis(planes[: len(image.mode)], 0, -1)


def _raw_prefix(image: Any) -> bytes:
    image.fp.seek(0)
    return bytes(image.fp.read(2))
