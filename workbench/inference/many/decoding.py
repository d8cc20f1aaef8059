"""Images decoded in threads, some batches ahead of the model."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from workbench.core.specs import Shape
from workbench.downloads.download import Progress
from workbench.downloads.web_picture import read_web_picture
from workbench.errors import DownloadError, PictureError, WorkbenchError
from workbench.inference.many.listing import Listed
from workbench.pictures.decode import decode_reduced
from workbench.pictures.fit import fit_picture, side_to_decode

Pixels = np.ndarray[Any, np.dtype[np.uint8]]

BATCH = 32
"""Always filled up: the same image then gives the same numbers, whatever is beside it."""

_AHEAD = 2
"""Batches that are being decoded while one is classified."""

Size = tuple[int, int]


@dataclass(frozen=True)
class Batch:
    """A batch of images, in order.

    Attributes:
        images: At most `BATCH` of them.
        pixels: uint8 (BATCH, height, width, channels); anything where there is no image, or one
            that cannot be read.
        results: (height, width) of each image in its file; or why it cannot be read.
    """

    images: list[Listed]
    pixels: Pixels
    results: list[Size | WorkbenchError]

    @property
    def readable(self) -> list[int]:
        """The places of the images that could be read."""
        return [at for at, result in enumerate(self.results) if isinstance(result, tuple)]


def decoded_batches(
    images: Iterator[Listed], shape: Shape, fit: str, ctx: Progress, value_range: str = ""
) -> Iterator[Batch]:
    """Decodes images as training does, and brings them to `shape` (height, width, channels).

    Args:
        images: In order; they are listed as they are needed.
        shape: (height, width, channels) of the model's input.
        fit: A key of fits.FITS.
        ctx: Where downloads are reported; its check for each batch may raise to stop.
        value_range: Black and white of images of more than 8 bits; "" by the numbers of each.
    """
    with ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="decode") as pool:
        decode = partial(_decode, _Wanted(shape, fit, value_range), ctx)
        begin = partial(_begin, pool, images, decode, shape)
        waiting: deque[_Begun] = deque()
        try:
            while len(waiting) <= _AHEAD and (begun := begin()):
                waiting.append(begun)
            while waiting:
                ctx.check_cancelled()
                first = waiting.popleft()
                results = [future.result() for future in first.futures]
                if begun := begin():
                    waiting.append(begun)
                yield Batch(first.images, first.pixels, results)
        finally:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class _Wanted:
    """How images are decoded and fitted."""

    shape: Shape
    fit: str
    value_range: str


@dataclass(frozen=True)
class _Begun:
    """A batch that is being decoded."""

    images: list[Listed]
    pixels: Pixels
    futures: list[Future[Size | WorkbenchError]]


def _begin(
    pool: ThreadPoolExecutor,
    images: Iterator[Listed],
    decode: Callable[[Listed, Pixels], Size | WorkbenchError],
    shape: Shape,
) -> _Begun | None:
    """Begins the next batch; None where no images are left."""
    chunk = list(islice(images, BATCH))
    pixels = np.zeros((BATCH, *shape), np.uint8)
    pairs = zip(chunk, pixels, strict=False)
    futures = [pool.submit(decode, image, place) for image, place in pairs]
    return _Begun(chunk, pixels, futures) if chunk else None


def _decode(wanted: _Wanted, ctx: Progress, image: Listed, place: Pixels) -> Size | WorkbenchError:
    """Writes an image's pixels to their place; its size in its file, or why it cannot be read."""
    if image.error is not None:
        return image.error
    try:
        file = read_web_picture(image.path, ctx) if image.is_address else image.path
        side = side_to_decode(wanted.shape)
        decoded = decode_reduced(file, side, where=image.path, value_range=wanted.value_range)
        place[:] = fit_picture(decoded.pixels, wanted.shape, fit=wanted.fit)
    except (PictureError, DownloadError) as error:
        return error
    return decoded.full_size
