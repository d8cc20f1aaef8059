"""A gray border over what is around the middle of the picture: does the answer depend on it?"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.alterations import AlterationSpec, Pixels

_GRAY = 128.0

_Shares = np.ndarray[Any, np.dtype[np.float64]]


def _apply(pixels: Pixels, percent: float, _seed: int) -> Pixels:
    rows, columns = (_kept(size, percent / 100) for size in pixels.shape[:2])
    kept = (rows[:, None] * columns)[..., None]
    return np.asarray((kept * pixels + (1 - kept) * _GRAY).round(), np.uint8)


def _kept(size: int, border: float) -> _Shares:
    """How much of each pixel of a side is inside the border, 0..1: a border of a small picture is
    no whole number of pixels.
    """
    starts = np.arange(size, dtype=np.float64)
    left, right = size * border, size * (1 - border)
    inside = np.minimum(starts + 1, right) - np.maximum(starts, left)
    return inside.clip(0, 1)


SPEC = AlterationSpec(
    key="background",
    title="Gray border",
    order=30,
    unit="%",
    least=0,
    greatest=45,
    meaning="Width of a gray border over the background, as a share of the picture's sides.",
    apply=_apply,
)
