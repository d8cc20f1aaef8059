"""The size of a picture as its first bytes state it, without a decoder.

Only to estimate: it is what the file claims. Formats: PNG, JPEG, GIF, BMP.
"""

from __future__ import annotations

import struct
from pathlib import Path

from workbench.core.storage.foreign_file import open_foreign

_HEAD_BYTES = 1 << 16
"""Camera JPEGs hold a preview before their size; what lies further on is not looked for."""

_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers of the frame header, which has the size."""

_MAX_SIDE = 100_000

Size = tuple[int, int]


def header_size(path: str | Path) -> Size | None:
    """(height, width) in pixels; None where the file cannot be read or is of another format."""
    try:
        with open_foreign(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    try:
        size = _size_of(head)
    except (struct.error, IndexError):
        return None  # cut off
    return size if size is not None and all(0 < side <= _MAX_SIDE for side in size) else None


def _size_of(head: bytes) -> Size | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        width, height = struct.unpack(">II", head[16:24])
    elif head.startswith(b"\xff\xd8\xff"):
        return _jpeg_size(head)
    elif head.startswith((b"GIF87a", b"GIF89a")):
        width, height = struct.unpack("<HH", head[6:10])
    elif head.startswith(b"BM"):
        width, height = struct.unpack("<ii", head[18:26])
    else:
        return None
    return abs(height), abs(width)


def _jpeg_size(head: bytes) -> Size | None:
    """From marker to marker, up to the frame header."""
    at = 2
    while head[at] == 0xFF:
        marker = head[at + 1]
        if marker == 0xFF:  # filling
            at += 1
            continue
        if marker in _JPEG_SIZES:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return height, width
        (length,) = struct.unpack(">H", head[at + 2 : at + 4])
        at += 2 + length
    return None
