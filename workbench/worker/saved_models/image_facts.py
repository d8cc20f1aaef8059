"""What images are like, for slices of an evaluation: how bright, and how large originally."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from workbench.core.specs import FilePart, LoadContext
from workbench.pictures.header_size import header_size
from workbench.pictures.prepare import Origin
from workbench.pictures.rows import Rows

_STEP = 512
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
"""Weights of red, green and blue by ITU-R BT.601, as image programs make gray of colors."""

Brightness = np.ndarray[Any, np.dtype[np.float32]]
Sizes = np.ndarray[Any, np.dtype[np.int32]]


def brightness_of(x: Rows, ctx: LoadContext) -> Brightness:
    """The mean luminance of images uint8 (n, height, width, 1 or 3), (n,), 0..255."""
    means = []
    for start in range(0, len(x), _STEP):
        ctx.check_cancelled()
        pixels = np.asarray(x[start : start + _STEP])
        channels = pixels.reshape(len(pixels), -1, pixels.shape[-1]).mean(axis=1, dtype=np.float32)
        means.append(channels @ _LUMA if channels.shape[1] == len(_LUMA) else channels[:, 0])
    found: Brightness = np.concatenate([np.zeros(0, np.float32), *means])
    return np.clip(found, 0, 255)


def sizes_of(origin: Origin, ctx: LoadContext) -> Sizes:
    """Width and height of the original images, (n, 2); 0 where a file's first bytes do not say."""
    if not isinstance(origin.part, FilePart):
        height, width = cast("tuple[int, ...]", origin.part.pictures.shape)[1:3]
        return np.tile(np.array([width, height], np.int32), (len(origin.numbers), 1))
    sizes = np.zeros((len(origin.numbers), 2), np.int32)
    for at, number in enumerate(origin.numbers.tolist()):
        if at % _STEP == 0:
            ctx.check_cancelled()
        if (size := header_size(origin.part.paths[number])) is not None:
            sizes[at] = size[::-1]
    return sizes
