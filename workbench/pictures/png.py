"""Writing pixels as PNG."""

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
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(file, "PNG", compress_level=3)
    return file.getvalue()


def write_png(path: str | Path, pixels: Pixels) -> None:
    """Writes a PNG file; a reader never sees half of it.

    Not for what must survive a power cut: previews and thumbnails can be made again.

    Raises:
        SaveError: it could not be written.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_own(path, png_bytes(pixels))
    except OSError as error:
        raise SaveError(
            f"The image could not be written: {error.strerror}.", where=str(path)
        ) from error
