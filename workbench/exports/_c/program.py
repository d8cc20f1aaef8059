"""What the C code is made of: buffers, constants and steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.exports._c.flat import NoCodeError, Tensor, Values

# places --------------------------------------------------------------------------------------
# Axes of arrays as sizes and steps, for kernels that have loops over a fixed number of them.

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


# program -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Buffer:
    """Numbers of 8 bits.

    Attributes:
        size: Bytes.
        name: Name of a C variable that is there already; "" for one in the arena.
    """

    size: int
    name: str = ""


@dataclass(frozen=True, eq=False)
class Part:
    """What of a buffer begins at an offset in bytes."""

    buffer: Buffer
    offset: int


@dataclass(frozen=True, eq=False)
class Patch:
    """Memory for so many numbers of 16 bits, which steps share one after the other."""

    count: int


@dataclass(frozen=True, eq=False)
class Table:
    """A constant array, in C of a type such as "int8_t"."""

    kind: str
    values: Values


@dataclass(frozen=True, eq=False)
class Options:
    """A constant structure of a type without prefix; its fields in order, tuples for arrays."""

    kind: str
    fields: tuple[Any, ...]


Argument = Buffer | Part | Patch | Table | Options | int | str


@dataclass(frozen=True, eq=False)
class Step:
    """A call of a kernel.

    Attributes:
        kernel: Its name.
        arguments: In order; texts are names of functions.
        layer: What it belongs to, for the comment.
        shares: Its input, whose place the output may take.
    """

    kernel: str
    arguments: tuple[Argument, ...]
    layer: str
    shares: Buffer | None = None

    @property
    def output(self) -> Buffer:
        """The buffer that it writes, its last argument."""
        last = self.arguments[-1]
        assert isinstance(last, Buffer | Part)  # noqa: S101 - for the type
        return last.buffer if isinstance(last, Part) else last

    @property
    def buffers(self) -> list[Buffer]:
        """All that it reads or writes."""
        parts = [a.buffer if isinstance(a, Part) else a for a in self.arguments]
        return [each for each in parts if isinstance(each, Buffer)]


@dataclass(frozen=True)
class Output:
    """Numbers of uint8 that the program writes; one stands for (number - zero) * scale."""

    buffer: Buffer
    scale: float
    zero: int


@dataclass(frozen=True)
class Program:
    """A network as calls.

    Attributes:
        layers: Outputs of layers by name, where they are wanted.
    """

    image: Buffer
    scores: Output
    layers: dict[str, Output] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)


def int8(values: Any) -> Table:
    """An array of numbers of 8 bits."""
    return Table("int8_t", np.asarray(values, np.int8))


def int32(values: Any) -> Table:
    """An array of integers."""
    return Table("int32_t", np.asarray(values, np.int32))
