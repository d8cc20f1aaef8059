"""Pictures of one shape that stay in their files and are decoded at each read."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import numpy as np

from workbench.core.specs import Part, Shape
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.rows import ChosenRows, Numbers, Pixels
from workbench.pictures.thumbnails import part_picture


class FileRows(ChosenRows):
    """The `chosen` pictures of a part, in that order, decoded and fitted to `shape` (height, width,
    1 or 3) by a key of fits.FITS at each read.
    """

    def __init__(self, part: Part, shape: Shape, fit: str, chosen: Numbers) -> None:
        super().__init__(shape, chosen)
        self._part = part
        self._fit = fit

    def pick(self, indices: Numbers) -> Self:
        """The pictures at these indices."""
        return type(self)(self._part, self.shape[1:], self._fit, self._chosen[indices])

    def _fetch(self, numbers: Numbers) -> Pixels:
        pixels = np.empty((len(numbers), *self.shape[1:]), np.uint8)

        shape = self.shape[1:]
        side = side_to_decode(shape)

        def decode(at: int) -> None:
            picture = part_picture(self._part, int(numbers[at]), side=side)
            pixels[at] = fit_picture(picture, shape, fit=self._fit)

        for _ in _pool().map(decode, range(len(numbers))):
            pass  # read, so that the first error is raised here
        return pixels


_POOL: list[ThreadPoolExecutor] = []
_POOL_LOCK = threading.Lock()


def _pool() -> ThreadPoolExecutor:
    """Decoding threads of this process, shared by all rows: made on first use."""
    with _POOL_LOCK:
        if not _POOL:
            _POOL.append(ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="decode"))
        return _POOL[0]
