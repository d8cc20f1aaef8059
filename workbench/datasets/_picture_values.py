"""Arrays of numbers as images: which axis is which, and which value is white."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import LoadContext
from workbench.errors import DatasetError

Array = np.ndarray[Any, Any]

_BLOCK_BYTES = 8 * 2**20

EXPECTED = "(n, height, width), (n, height, width, 1 or 3) or (n, 1 or 3, height, width)"


@dataclass(frozen=True)
class Axes:
    """How the axes of an array are to be read."""

    is_gray: bool = False
    is_channels_first: bool = False

    def arrange(self, block: Array) -> Array:
        """Some images as (n, height, width, channels)."""
        if self.is_gray:
            return block[..., None]
        return np.moveaxis(block, 1, -1) if self.is_channels_first else block


def find_axes(shape: tuple[int, ...], where: str) -> Axes:
    """Reads the axes off a shape.

    Raises:
        DatasetError: it is none of the three forms in EXPECTED.
    """
    if len(shape) == 3 and min(shape) > 0:
        return Axes(is_gray=True)
    if len(shape) == 4 and min(shape) > 0:
        if shape[3] in {1, 3}:
            return Axes()
        if shape[1] in {1, 3}:
            return Axes(is_channels_first=True)
    fix = "Save the images with height, width and channels as separate axes."
    if len(shape) == 2 and shape[1] > 1:
        side = int(shape[1] ** 0.5)
        if side * side == shape[1]:
            fix = f"Save them as x.reshape(-1, {side}, {side})."
    elif len(shape) == 4 and shape[3] == 4:
        fix = "Save them without transparency, as x[..., :3]."
    raise DatasetError(
        "These values are not images.",
        where=where,
        received=str(shape),
        expected=EXPECTED,
        fix=fix,
    )


@dataclass(frozen=True)
class Scale:
    """How values become 0..255: (value - low) * factor, rounded."""

    low: float = 0.0
    factor: float = 1.0
    note: str = ""

    def apply(self, block: Array) -> Array:
        """The values of `block` as uint8, black at 0 and white at 255."""
        if block.dtype == np.uint8 and self.low == 0 and self.factor == 1:
            return block
        return np.round((block.astype(np.float64) - self.low) * self.factor).astype(np.uint8)


def find_scale(arrays: list[Array], where: str, ctx: LoadContext) -> Scale:
    """Finds out which value is black and which is white, from the values themselves.

    0..255 stays; 0..1, 0..16 and 0..65535 and, for real numbers, -1..1 are scaled, with a note.

    Raises:
        DatasetError: another range, or values that are not finite.
    """
    low, high = _range(arrays, where, ctx)
    is_real = any(array.dtype.kind == "f" for array in arrays)
    found = f"Values from {low:g} to {high:g} were scaled to 0–255"
    if low >= 0 and high <= 1 and (is_real or high > low):
        return Scale(0, 255.0, f"{found} (0 is black, 1 is white).")
    if low >= 0 and high == 16:
        return Scale(0, 255 / 16, f"{found} (0 is black, 16 is white).")
    if low >= 0 and high <= 255:
        return Scale()
    if low >= 0 and high <= 65_535 and not is_real:
        return Scale(0, 255 / 65_535, f"{found} (0 is black, 65,535 is white).")
    if low >= -1 and high <= 1 and is_real:
        return Scale(-1.0, 127.5, f"{found} (-1 is black, 1 is white).")
    raise DatasetError(
        "These values are not pixel values.",
        where=where,
        received=f"values from {low:g} to {high:g}",
        expected="0 to 255, or 0 to 1, 0 to 16, 0 to 65,535 or -1 to 1",
        fix="Save the images before standardization.",
    )


def _range(arrays: list[Array], where: str, ctx: LoadContext) -> tuple[float, float]:
    if all(array.dtype == np.bool_ for array in arrays):
        return 0.0, 1.0
    low, high = np.inf, -np.inf
    for array in arrays:
        for block in blocks(array):
            ctx.check_cancelled()
            low, high = min(low, float(block.min())), max(high, float(block.max()))
            if not (np.isfinite(low) and np.isfinite(high)) or np.isnan(float(block.sum())):
                raise DatasetError(
                    "Some values are not finite.",
                    where=where,
                    received="NaN or infinity",
                    expected="finite values",
                )
    return low, high


def blocks(array: Array) -> list[Array]:
    """The array in pieces of a few megabytes along its first axis (views)."""
    step = max(1, _BLOCK_BYTES // max(1, array[:1].nbytes))
    return [array[start : start + step] for start in range(0, len(array), step)]


def write_pictures(path: Path, array: Array, axes: Axes, scale: Scale, ctx: LoadContext) -> None:
    """Writes an array as uint8 (n, height, width, channels) into an .npy file, piece by piece."""
    shape = (len(array), *axes.arrange(array[:1]).shape[1:])
    with path.open("wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks(array):
            ctx.check_cancelled()
            file.write(scale.apply(axes.arrange(block)).tobytes())
