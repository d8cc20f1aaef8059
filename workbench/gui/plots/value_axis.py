"""The value axis: round numbers on it, also where it is logarithmic and spans no decade."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg

from workbench.gui.plots.series import number_text

WIDE_DECADES = 1.3
"""From here on powers of ten and their multiples are enough."""

MAX_POWER = 300.0
_STEPS = (1.0, 2.0, 5.0, 10.0)
_MIN_GAP_PX = 48.0


def round_values(low: float, high: float, count: int) -> list[float]:
    """At most about `count` round numbers from `low` to `high`, evenly apart."""
    if not (0.0 < high - low < math.inf) or count < 1:
        return []
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in _STEPS if power * each >= raw * (1.0 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


class ValueAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph ships no type information
    """The left axis. On logarithmic axes pyqtgraph marks powers of ten and their multiples
    only: a loss that goes from 1.6 to 1.5 would have an axis without a number.
    """

    def __init__(self) -> None:
        super().__init__("left")

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Ticks by level as (spacing, positions); positions are logarithms when logarithmic."""
        low, high = sorted((low, high))
        if not self.logMode or high - low > WIDE_DECADES or max(abs(low), abs(high)) > MAX_POWER:
            ticks: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
            return ticks
        values = round_values(10.0**low, 10.0**high, max(2, int(size / _MIN_GAP_PX)))
        return [(1.0, [float(np.log10(value)) for value in values if value > 0.0])]

    def logTickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """What stands at the ticks, as people write numbers."""
        if values and max(values) - min(values) <= WIDE_DECADES:
            return [_short(10.0**value) for value in values]
        words: list[str] = super().logTickStrings(values, scale, spacing)
        return words


def _short(value: float) -> str:
    text = f"{value:.4g}"
    return text if "e" not in text else number_text(value)
