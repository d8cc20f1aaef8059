"""Axes of arrays as sizes and steps, for kernels that have loops over a fixed number of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.exports._c.flat import NoCodeError, Tensor, Values

Axes = tuple[tuple[int, ...], ...]


def blank(shape: Sequence[int]) -> Values:
    """An array of bytes; its strides are steps between neighbors."""
    return np.zeros(tuple(shape), np.int8)


def offset(view: Values, whole: Values) -> int:
    """Offset of a view in its array, in bytes."""
    start = view.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    return int(start)


def merged(shape: Sequence[int], *steps: Sequence[int], count: int, tensor: Tensor) -> Axes:
    """(sizes, steps, ...) of exactly `count` axes, with axes merged that are one in memory.

    Raises:
        NoCodeError: there are more of them.
    """
    rows = [row for row in zip(shape, *steps, strict=True) if row[0] != 1]
    found: list[tuple[int, ...]] = []
    for size, *moves in rows:
        if found and all(
            before == move * size for before, move in zip(found[-1][1:], moves, strict=True)
        ):
            found[-1] = (found[-1][0] * size, *moves)
        else:
            found.append((size, *moves))
    if len(found) > count:
        raise NoCodeError(f"more than {count} axes", tensor)
    filled = [(1, *(0 for _ in steps))] * (count - len(found)) + found
    return tuple(zip(*filled, strict=True))
