"""Small images of files, kept on disk: by path, size and time of change of the file.

They can be made again: the longest unused go first when there are too many, and a full disk only
means that they are made each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from workbench.core.storage.own_file import make_own_folder, refuse_link, replace_own
from workbench.errors import LinkFoundError

KEEP_BYTES = 512 * 2**20
"""About 100,000 thumbnails."""

_LOOK_EVERY = 2_000
"""So many new ones are written before their sizes are added up."""

_QUALITY = 90

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


class ThumbnailCache:
    """The thumbnails of one size below a cache folder."""

    def __init__(self, cache_folder: Path, size: int, *, keep_bytes: int = KEEP_BYTES) -> None:
        self._folder = cache_folder / "thumbnails"
        self._size = size
        self._keep_bytes = keep_bytes
        self._num_new = 0

    def place_of(self, file: str, value_range: str = "") -> Path | None:
        """Path that the thumbnail of a file, decoded with a range, has or would have; None where
        there is no such file.
        """
        try:
            status = os.stat(file)  # noqa: PTH116 - a hundred thousand Paths are slow
        except (OSError, ValueError):
            return None
        mark = f"{os.path.abspath(file)}\0{status.st_size}\0{status.st_mtime_ns}\0{self._size}"  # noqa: PTH100 - as above
        mark += f"\0{value_range}" if value_range else ""
        digest = hashlib.blake2b(mark.encode(errors="surrogateescape"), digest_size=16).hexdigest()
        return self._folder / digest[:2] / f"{digest[2:]}.jpg"

    def find(self, place: Path) -> bool:
        """Whether a thumbnail is there; it counts as used then."""
        try:
            refuse_link(place)
            os.utime(place, follow_symlinks=False)
        except (OSError, LinkFoundError):
            return False
        return True

    def store(self, place: Path, pixels: Pixels) -> bool:
        """Keeps a thumbnail; False where that is not possible."""
        try:
            for folder in (self._folder, place.parent):
                make_own_folder(folder, parents=True)
            replace_own(place, _jpeg(pixels))
        except (OSError, LinkFoundError):
            return False
        self._num_new += 1
        if self._num_new % _LOOK_EVERY == 0:
            self.prune()
        return True

    def prune(self) -> None:
        """Removes the longest unused beyond what is kept."""
        found: list[tuple[float, int, Path]] = []
        for path in self._folder.glob("??/*.jpg"):
            with contextlib.suppress(OSError):  # another process has removed it
                status = path.lstat()
                found.append((status.st_mtime, status.st_size, path))
        spare = sum(size for _, size, _ in found) - self._keep_bytes
        for _, size, path in sorted(found):
            if spare <= 0:
                break
            spare -= size
            path.unlink(missing_ok=True)


def _jpeg(pixels: Pixels) -> bytes:
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    file = io.BytesIO()
    image = Image.fromarray(np.ascontiguousarray(pixels))
    image.save(file, "JPEG", quality=_QUALITY, subsampling=0)
    return file.getvalue()
