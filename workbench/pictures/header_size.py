"""The size and channels of a picture as its first bytes state them, without a decoder.

Only to estimate: it is what the file claims. Formats: PNG, JPEG, GIF, BMP.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from workbench.core.storage.foreign_file import open_foreign

_HEAD_BYTES = 1 << 16
"""Camera JPEGs hold a preview before their size; what lies further on is not looked for."""

_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers of the frame header, which has the size."""

_MAX_SIDE = 100_000

_GRAY_PNG = frozenset({0, 4})
"""Color types of PNG without color; the second has an alpha channel."""

_COLORS = 3


def header_shape(path: str | Path) -> tuple[int, int, int] | None:
    """(height, width, channels) with 1 channel for grayscale and 3 for color; None where the file
    cannot be read or is of another format.
    """
    try:
        with open_foreign(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    try:
        shape = _shape_of(head)
    except (struct.error, IndexError):
        return None  # cut off
    is_sound = shape is not None and all(0 < side <= _MAX_SIDE for side in shape[:2])
    return shape if is_sound else None


def header_size(path: str | Path) -> tuple[int, int] | None:
    """(height, width) in pixels; None as for `header_shape`."""
    shape = header_shape(path)
    return None if shape is None else shape[:2]


def usual_channels(shapes: Iterable[tuple[int, int, int]]) -> int:
    """1 where all of some images are grayscale, else 3, also for no images."""
    return 1 if {shape[2] for shape in shapes} == {1} else _COLORS


def typical_size(sizes: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The most common (height, width), or the median where few are alike; () for none."""
    if not sizes:
        return ()
    size, count = Counter(sizes).most_common(1)[0]
    return (
        size if 2 * count > len(sizes) else tuple(map(int, map(median, zip(*sizes, strict=True))))
    )


def _shape_of(head: bytes) -> tuple[int, int, int] | None:
    channels = _COLORS
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        width, height = struct.unpack(">II", head[16:24])
        channels = 1 if head[25] in _GRAY_PNG else _COLORS
    elif head.startswith(b"\xff\xd8\xff"):
        return _jpeg_shape(head)
    elif head.startswith((b"GIF87a", b"GIF89a")):
        width, height = struct.unpack("<HH", head[6:10])
    elif head.startswith(b"BM"):
        width, height = struct.unpack("<ii", head[18:26])
    else:
        return None
    return abs(height), abs(width), channels


def _jpeg_shape(head: bytes) -> tuple[int, int, int] | None:
    """Shape in the frame header, which is found from marker to marker."""
    at = 2
    while head[at] == 0xFF:
        marker = head[at + 1]
        if marker == 0xFF:  # filling
            at += 1
            continue
        if marker in _JPEG_SIZES:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return height, width, 1 if head[at + 9] == 1 else _COLORS
        (length,) = struct.unpack(">H", head[at + 2 : at + 4])
        at += 2 + length
    return None
