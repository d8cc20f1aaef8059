"""What of an image file is not read: all frames or pages but the first, channels beyond color."""

from __future__ import annotations

from typing import Any, Literal

from PIL import Image

from workbench.core.storage.foreign_file import open_foreign

Unread = Literal["", "frames", "pages", "channels"]
"""What a file has more of than is read; "" for nothing."""

_SEVERAL: dict[str, Unread] = {
    "GIF": "frames", "WEBP": "frames", "PNG": "frames", "AVIF": "frames", "TIFF": "pages",
}  # fmt: skip
"""Formats with several images in a file."""

_BITS = 258
"""The TIFF tag with the bits of each channel."""


def unread_of(path: str, kind: str) -> Unread:
    """What of an image file is not read, by its header.

    Args:
        path: The file.
        kind: What it is, by Pillow's name.
    """
    if kind not in _SEVERAL:
        return ""
    try:
        with open_foreign(path) as file, Image.open(file, formats=(kind,)) as image:
            if getattr(image, "is_animated", False):
                return _SEVERAL[kind]
            return "channels" if _has_more_channels(image) else ""
    except (OSError, EOFError, ValueError, TypeError, LookupError, SyntaxError):
        return ""  # damage behind the first image, which can be read


def _has_more_channels(image: Any) -> bool:
    tags = getattr(image, "tag_v2", {})
    return len(tags.get(_BITS, ())) > len(image.getbands())
