"""The axes: round numbers on them, also where one is logarithmic and spans no decade."""

from __future__ import annotations

import math

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontMetrics

from workbench.core.format import number_text
from workbench.gui.plots.x_scale import x_words

WIDE_DECADES = 1.3
"""Decades of an axis from which on powers of ten and their multiples are enough as ticks."""

NUMBERS_PX = 46
"""Width of most numbers of a value axis."""

_LABEL_GAP_PX = 4
"""Between the numbers and the name of their axis."""

MAX_POWER = 300.0
_CLOCK_STEPS = (60, 120, 300, 600, 900, 1800, 3600, 7200, 4 * 3600, 6 * 3600, 12 * 3600, 24 * 3600)


def round_values(low: float, high: float, count: int) -> list[float]:
    """At most about `count` round numbers from `low` to `high`, evenly apart."""
    if not (0.0 < high - low < math.inf) or count < 1:
        return []
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    steps = (1.0, 2.0, 5.0, 10.0)
    step = next(power * each for each in steps if power * each >= raw * (1.0 - 1e-9))
    return _multiples(low, high, step)


def round_times(low: float, high: float, count: int) -> list[float]:
    """Round numbers of seconds from `low` to `high`: whole minutes and hours rather than hundreds
    of seconds.
    """
    if not (0.0 < high - low < math.inf) or count < 1:
        return []
    raw = (high - low) / count
    if raw < 30.0:
        return round_values(low, high, count)
    fitting = [step for step in _CLOCK_STEPS if step >= raw]
    if fitting:
        return _multiples(low, high, fitting[0])
    return [86400 * day for day in round_values(low / 86400, high / 86400, count)]


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def log_ticks(low: float, high: float, count: int) -> list[float]:
    """Logarithms of round numbers: 1, 2, 5, 10, ... or, where that is too many, powers of ten."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    for parts in ((1.0, 2.0, 5.0), (1.0,)):
        ticks = [power + math.log10(part) for power in powers for part in parts]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) <= count:
            return ticks
    return ticks[:: -(-len(ticks) // count)]


class _RoundAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph ships no type information
    """pyqtgraph marks logarithmic axes at powers of ten and their multiples only: a loss
    that goes from 1.6 to 1.5 would have an axis without a number.
    """

    gap_px = 48.0
    """Least room of a tick."""

    def __init__(self, side: str) -> None:
        super().__init__(side)
        self.enableAutoSIPrefix(False)

    def words(self, value: float) -> str:
        """The label of a tick."""
        text = f"{value:.4g}"
        return text if "e" not in text else number_text(value)

    def round_ticks(self, low: float, high: float, count: int) -> list[float]:
        """Round values between two others."""
        return round_values(low, high, count)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Ticks by level as (spacing, positions); positions are logarithms when logarithmic."""
        low, high = sorted((low, high))
        if not self.logMode or high - low > WIDE_DECADES or max(abs(low), abs(high)) > MAX_POWER:
            return self._wide_ticks(low, high, size)
        values = self.round_ticks(10.0**low, 10.0**high, max(2, int(size / self.gap_px)))
        return [(1.0, [float(np.log10(value)) for value in values if value > 0.0])]

    def _wide_ticks(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        ticks: list[tuple[float, list[float]]] = super().tickValues(low, high, size)
        return ticks

    def logTickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The labels of the ticks, as people write numbers."""
        if values and max(values) - min(values) <= WIDE_DECADES:
            return [self.words(10.0**value) for value in values]
        words: list[str] = super().logTickStrings(values, scale, spacing)
        return words


class ValueAxis(_RoundAxis):
    """The left axis: a metric. It grows with its numbers, and never shrinks: a plot keeps its place
    while its values change.

    Args:
        is_share: Values of 0..1, written as percentages.
    """

    def __init__(self, *, is_share: bool = False) -> None:
        super().__init__("left")
        self.is_share = is_share
        self._numbers_px = NUMBERS_PX
        self._label_px = 0

    def set_label_px(self, label_px: int) -> None:
        """Keeps room for its numbers, and this many pixels for its name."""
        self._label_px = label_px
        self._take_room()

    def _take_room(self) -> None:
        self.setWidth(self._numbers_px + self._label_px)

    def _keep_room_for(self, words: list[str]) -> None:
        metrics = QFontMetrics(self.style["tickFont"] or self.font())
        widest = max(map(metrics.horizontalAdvance, words), default=0)
        needed = widest + self.style["tickTextOffset"][0] + _LABEL_GAP_PX
        if needed > self._numbers_px:
            self._numbers_px = needed
            QTimer.singleShot(0, self, self._take_room)  # numbers are written within a paint

    def words(self, value: float) -> str:
        return f"{100.0 * value:.4g}%" if self.is_share else super().words(value)

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        words: list[str] = super().tickStrings(values, scale, spacing)
        if self.is_share and not self.logMode:
            words = [self.words(value) for value in values]
        self._keep_room_for(words)
        return words


class XAxis(_RoundAxis):
    """The bottom axis: steps, epochs, seconds or images."""

    gap_px = 64.0

    def __init__(self) -> None:
        super().__init__("bottom")
        self.kind = "step"

    def words(self, value: float) -> str:
        return x_words(self.kind, value)

    def round_ticks(self, low: float, high: float, count: int) -> list[float]:
        rounded = round_times if self.kind == "time" else round_values
        return rounded(low, high, count)

    def _wide_ticks(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        ticks = log_ticks if self.logMode else self.round_ticks
        return [(1.0, ticks(low, high, max(2, int(size / self.gap_px))))]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        if self.logMode:
            return self.logTickStrings(values, scale, spacing)
        return [self.words(value) for value in values]

    def logTickStrings(self, values: list[float], _scale: float, _gap: float) -> list[str]:
        return [self.words(float(f"{10.0 ** min(value, MAX_POWER):.6g}")) for value in values]
