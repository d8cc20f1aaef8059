"""Axes with round numbers: the frame that curves are drawn in."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from workbench.report.drawing import Label, Line, Mark

Place = Callable[[float], float]


@dataclass(frozen=True)
class Axes:
    """A frame in a drawing, and where values are in it.

    Attributes:
        left, top, width, height: The frame.
        low_x, high_x, low_y, high_y: Values at its sides.
    """

    left: float
    top: float
    width: float
    height: float
    low_x: float
    high_x: float
    low_y: float
    high_y: float

    def x(self, value: float) -> float:
        """Distance of a value from the left of the drawing."""
        return self.left + self.width * (value - self.low_x) / ((self.high_x - self.low_x) or 1)

    def y(self, value: float) -> float:
        """Distance of a value from the top of the drawing."""
        share = (value - self.low_y) / ((self.high_y - self.low_y) or 1)
        return self.top + self.height * (1 - share)

    def marks(self, title: str, x_title: str, text: Callable[[float], str]) -> list[Mark]:
        """Grid, numbers and titles; `text` writes the values of the y axis."""
        right, bottom = self.left + self.width, self.top + self.height
        marks: list[Mark] = [Label(x=self.left, y=self.top - 12, text=title, is_bold=True, size=13)]
        for value in ticks(self.low_y, self.high_y, 5):
            y = self.y(value)
            marks.append(Line(points=[(self.left, y), (right, y)], stroke="line", width=1))
            words = text(value)
            marks.append(
                Label(x=self.left - 8, y=y + 4, text=words, size=11, color="dim", anchor="end")
            )
        for value in ticks(self.low_x, self.high_x, 6, is_whole=True):
            x = self.x(value)
            words = f"{value:,.0f}"
            marks.append(
                Label(x=x, y=bottom + 17, text=words, size=11, color="dim", anchor="middle")
            )
        marks.append(Line(points=[(self.left, bottom), (right, bottom)], stroke="faint", width=1))
        marks.append(
            Label(x=right, y=bottom + 33, text=x_title, size=11, color="dim", anchor="end")
        )
        return marks


def ticks(low: float, high: float, count: int, *, is_whole: bool = False) -> list[float]:
    """About `count` round numbers from `low` to `high`; whole ones for a count of something."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    rough = span / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough * 0.999)
    if is_whole:
        step = max(1.0, round(step))
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]
