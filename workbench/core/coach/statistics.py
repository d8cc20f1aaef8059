"""How large a difference must be before it means something."""

from __future__ import annotations

import math

import numpy as np

from workbench.core.coach.record import Floats
from workbench.core.evaluation.intervals import share_error

CERTAIN = 1.96
"""Standard errors within which 95 of 100 figures are."""


def smallest_difference(accuracy: float, images: int) -> float:
    """The difference of two runs' accuracies on so many images that is no noise."""
    return CERTAIN * math.sqrt(2.0) * share_error(accuracy, images)


def slope(values: Floats) -> tuple[float, float]:
    """The slope of a series per place, and its standard error.

    The median of the slopes between all pairs (Theil and Sen), which a few outliers do not move;
    the error follows from the median distance to that line.

    Args:
        values: (n,), at least three of them, finite.
    """
    places = np.arange(len(values))
    first, second = np.triu_indices(len(values), 1)
    found = float(np.median((values[second] - values[first]) / (second - first)))
    rest = values - found * places
    spread = 1.4826 * float(np.median(np.abs(rest - np.median(rest))))
    return found, spread * math.sqrt(12.0 / len(values) ** 3)
