"""Positions of values along an axis: numbers evenly or by logarithm, words one after another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.core.format import share
from workbench.gui.plots.value_axis import round_values

_LOG_FROM = 8.0
"""Largest number over the smallest from which on an axis is logarithmic."""
_TICKS = 5
_ROOM = 0.04
"""Share of an axis that is left free beyond its first and last value."""


@dataclass(frozen=True)
class Scale:
    """An axis of 0..1.

    Attributes:
        places: Where each value, as typed, is.
    """

    places: Mapping[str, float]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Scale:
        """An axis for some values."""
        distinct = list(dict.fromkeys(texts))
        numbers = [_number(text) for text in distinct]
        if any(number is None for number in numbers):
            return cls(_spread({text: float(place) for place, text in enumerate(distinct)}))
        known = {text: float(number or 0.0) for text, number in zip(distinct, numbers, strict=True)}
        low, high = min(known.values(), default=0.0), max(known.values(), default=0.0)
        if low > 0 and high / low >= _LOG_FROM:
            known = {text: math.log(number) for text, number in known.items()}
        return cls(_spread(known))

    def ticks(self, gap: float) -> list[tuple[float, str]]:
        """Places to write a value at, at least `gap` apart."""
        found: list[tuple[float, str]] = []
        for text, place in sorted(self.places.items(), key=lambda each: each[1]):
            if not found or place - found[-1][0] >= gap:
                found.append((place, text))
        return found


@dataclass(frozen=True)
class AccuracyScale:
    """An axis of 0..1 for accuracies from `low` to `high`."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> AccuracyScale:
        """An axis with all of some values in sight."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        room = max((high - low) * _ROOM, 0.005)
        return cls(max(0.0, low - room), min(1.0, high + room))

    def place(self, value: float) -> float:
        """Position of an accuracy on the axis, 0..1 within the range."""
        return (value - self.low) / max(self.high - self.low, 1e-9)

    def ticks(self, count: int = _TICKS) -> list[tuple[float, str]]:
        """Round accuracies to write."""
        values = round_values(self.low, self.high, count)
        decimals = 0 if all(abs(100 * value - round(100 * value)) < 1e-6 for value in values) else 1
        return [(self.place(value), share(value, decimals)) for value in values]


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _spread(values: Mapping[str, float]) -> dict[str, float]:
    """Values as places; a single one is in the middle."""
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    if high <= low:
        return dict.fromkeys(values, 0.5)
    return {
        text: _ROOM + (1 - 2 * _ROOM) * (value - low) / (high - low)
        for text, value in values.items()
    }
