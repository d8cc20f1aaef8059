"""How certain a share is that was counted on some images."""

from __future__ import annotations

import math

_Z = 1.959963984540054
"""Quantile of the normal distribution for 95%."""


def share_error(share: float, count: int) -> float:
    """Standard error of a share 0..1 that was counted on so many images.

    Binomial, with two hits and two misses added (Agresti and Coull, 1998): also of use for few
    images, and where all are right.
    """
    total = count + 4
    middle = (min(max(share, 0.0), 1.0) * count + 2) / total  # a log may hold anything
    return math.sqrt(middle * (1.0 - middle) / total)


def wilson_interval(right: float, count: int) -> tuple[float, float]:
    """The 95% interval of a share of `right` among `count` independent images, by Wilson (1927):
    it stays within 0..1 and holds for few images, too. (0, 1) where there are none.
    """
    if count <= 0:
        return 0.0, 1.0
    right = min(max(right, 0), count)  # a file may hold anything
    share = right / count
    scale = 1 + _Z**2 / count
    middle = (share + _Z**2 / (2 * count)) / scale
    half = _Z / scale * math.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    low = 0.0 if right == 0 else max(0.0, middle - half)
    return low, 1.0 if right == count else min(1.0, middle + half)
