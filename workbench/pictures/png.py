"""Writing pixels as PNG; and as a bitmap, which is larger and written at once."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from workbench.core.storage.own_file import replace_own
from workbench.errors import SaveError

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def png_bytes(pixels: Pixels) -> bytes:
    """uint8 (height, width), (height, width, 1) or (height, width, 3) as a PNG file."""
    return _bytes(pixels, "PNG", compress_level=3)


def write_png(path: str | Path, pixels: Pixels) -> None:
    """Writes a PNG file; a reader never sees half of it.

    Not for what must survive a power cut: previews and thumbnails can be made again.

    Raises:
        SaveError: it could not be written.
    """
    _write(Path(path), png_bytes(pixels))


def write_bitmap(path: str | Path, pixels: Pixels) -> None:
    """The same as an uncompressed BMP file, for what is shown once and right away: compressing the
    preview of a photo takes longer than classifying it.
    """
    _write(Path(path), _bytes(pixels, "BMP"))


def _bytes(pixels: Pixels, kind: str, **options: int) -> bytes:
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, kind, **options)
    return file.getvalue()


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_own(path, data)
    except OSError as error:
        raise SaveError(
            f"The image could not be written: {error.strerror}.", where=str(path)
        ) from error
