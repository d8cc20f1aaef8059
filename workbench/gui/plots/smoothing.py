"""Exponential average with bias correction, for curves of any length. Plain NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Values = np.ndarray[Any, np.dtype[np.float64]]


def weight_of(span: float) -> float:
    """The weight of the past for an average over about `span` steps (1: no smoothing)."""
    return 1.0 - 1.0 / max(1.0, span)


def _scan(values: Values, weight: float, carry: float) -> Values:
    """y[i] = weight * y[i - 1] + (1 - weight) * values[i], with y[-1] = carry.

    Works in blocks short enough that weight ** -length stays far from overflow, so a
    million values take milliseconds instead of a Python loop over each.
    """
    if weight <= 0.0:
        return values.copy()
    length = max(1, min(1024, math.floor(100.0 / max(1e-9, -math.log10(weight)))))
    powers = weight ** np.arange(1, length + 1, dtype=np.float64)
    result = np.empty_like(values)
    for start in range(0, len(values), length):
        block = values[start : start + length]
        falling = powers[: len(block)]
        inner = np.cumsum(block / falling)
        result[start : start + length] = falling * ((1.0 - weight) * inner + carry)
        carry = float(result[start + len(block) - 1])
    return result


class BiasCorrectedAverage:
    """Averages a growing series; each value is computed once.

    The early values are not pulled towards zero: the sum of weighted values is divided by
    the sum of weights. Values that are not finite carry no weight, so a single NaN leaves
    no hole behind it.

    Args:
        weight: Weight of the past, 0 (no smoothing) to below 1.
    """

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self._sum = 0.0
        self._share = 0.0

    def extend(self, values: Values) -> Values:
        """The averages at `values`, which follow those of the calls before.

        Returns:
            float64 of the same length; NaN before the first finite value.
        """
        if len(values) == 0:
            return np.empty(0, dtype=np.float64)
        finite = np.isfinite(values)
        sums = _scan(np.where(finite, values, 0.0), self.weight, self._sum)
        shares = _scan(finite.astype(np.float64), self.weight, self._share)
        self._sum, self._share = float(sums[-1]), float(shares[-1])
        if self.weight <= 0.0:
            return np.where(finite, values, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(shares > 0.0, sums / shares, np.nan)
