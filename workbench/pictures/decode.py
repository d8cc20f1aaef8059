"""The one decoder: a picture file becomes upright 8-bit RGB pixels, or a PictureError.

Used for training, thumbnails and classification alike. The rules are those of
`workbench.pictures.portable`, which exported programs carry.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import PictureError
from workbench.parts import HEIC
from workbench.pictures.portable.decoding import (
    MAX_JPEG_PIXELS,
    MAX_PIXELS,
    Decoded,
    ImageError,
    decode,
    has_tga_end,
    read_file,
)

__all__ = ["MAX_JPEG_PIXELS", "MAX_PIXELS", "Decoded", "decode_picture", "decode_reduced"]

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def decode_picture(source: str | Path | bytes, *, where: str = "", value_range: str = "") -> Pixels:
    """The picture of a file, or of the bytes of one, at its full size, that of a JPEG file of more
    than MAX_PIXELS at a half or less: uint8 (height, width, 3), upright. Raises PictureError as
    `decode_reduced` does.
    """
    return decode_reduced(source, 0, where=where, value_range=value_range).pixels


def decode_reduced(
    source: str | Path | bytes, side: int, *, where: str = "", value_range: str = ""
) -> Decoded:
    """Decodes a picture that is needed small: large JPEG photos at 1/2, 1/4 or 1/8.

    A 12-megapixel photo takes a fifth of the time then.

    Args:
        source: A file, or the bytes of one.
        side: Both sides stay at least this long, in pixels; 0 for the full size.
        where: How messages name it; the path by default.
        value_range: Black and white of pictures of more than 8 bits (`FilePart.value_range`); ""
            for what fits the numbers of each.

    Raises:
        PictureError: whatever is wrong with it; names the file and the cause.
    """
    where = where or ("an unnamed image" if isinstance(source, bytes) else str(source))
    try:
        data = source if isinstance(source, bytes) else read_file(source)
        has_name = not isinstance(source, bytes) and Path(source).suffix.lower() == ".tga"
        is_tga = has_name or has_tga_end(data)
        return decode(data, side, is_tga=is_tga, value_range=value_range)
    except ImageError as error:
        part = HEIC if error.kind == "HEIC" else None
        raise PictureError(
            error.what,
            part=part.key if part is not None else "",
            where=where,
            received=error.received,
            expected=error.expected,
            fix=f"{part.install_words}, or save it as JPEG." if part is not None else error.fix,
        ) from None
