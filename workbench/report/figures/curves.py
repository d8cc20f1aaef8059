"""Loss and accuracy over the epochs, of training and validation, with the best epoch and where
fine-tuning begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.curves import CurveSpec
from workbench.curves.accuracy import SPEC as ACCURACY
from workbench.curves.loss import SPEC as LOSS
from workbench.report.blocks import Drawing, Label, Line, Mark, Rect, text_width
from workbench.runs.log.curve_columns import Column, Series
from workbench.runs.log.history import MetricHistory

# axes ----------------------------------------------------------------------------------------
# Axes with round numbers: the frame that curves are drawn in.

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


# curves --------------------------------------------------------------------------------------

_WIDTH, _HEIGHT = 900.0, 310.0
_PLOT_WIDTH, _PLOT_HEIGHT = 370.0, 200.0
_TOP = 34.0
_LEFTS = (52.0, 510.0)
_MOST_POINTS = 300
"""Points of a line: a batch each would be thousands on a few hundred pixels."""

_ROBUST = 98.0
"""Percentile of the batch losses that is still within the frame: first ones can be huge."""

Points = list[tuple[float, float]]


def curves_drawing(history: MetricHistory) -> Drawing | None:
    """Both plots side by side; None where nothing was logged."""
    marks: list[Mark] = []
    for spec, left in zip((LOSS, ACCURACY), _LEFTS, strict=True):
        marks += _plot(history, spec, left)
    if not marks:
        return None
    return Drawing(width=_WIDTH, height=_HEIGHT, marks=[*marks, *_legend(history)])


def _plot(history: MetricHistory, spec: CurveSpec, left: float) -> list[Mark]:
    series = history.series(spec)
    batches = _thinned(series)
    train = _points(series.epochs, series.epoch_train)
    validation = _points(series.epochs, series.epoch_validation)
    if not (batches or train or validation):
        return []
    axes = _axes(spec, (batches, train, validation), left)
    text = _percent if spec.is_share else _plain
    marks = axes.marks(spec.title, "epoch", text)
    marks += _phase_marks(series, axes)
    marks += _line(batches, axes, "train", width=1.0, opacity=0.4)
    marks += _line(train, axes, "train", width=2.0)
    marks += _line(validation, axes, "validation", width=2.0)
    return [*marks, *_best_marks(series, axes, validation or train)]


def _axes(spec: CurveSpec, lines: tuple[Points, ...], left: float) -> Axes:
    batches, train, validation = lines
    means = [y for _, y in (*train, *validation)]
    values = means or [y for _, y in batches]
    high = max(values)
    if batches:
        high = max(high, float(np.percentile([y for _, y in batches], _ROBUST)))
    low = min([*values, *(y for _, y in batches)])
    last = max([x for line in lines for x, _ in line])
    if spec.is_share:
        low, high = (max(0.0, low - 0.03), 1.0)
    else:
        low, high = min(0.0, low), high * 1.04 or 1.0
    frame = (left, _TOP, _PLOT_WIDTH, _PLOT_HEIGHT)
    return Axes(*frame, 0.0, max(last, 1.0), low, high)


def _thinned(series: Series) -> Points:
    """The values of the batches, at most so many means of as many neighbors."""
    if not series.steps_per_epoch or not len(series.steps):
        return []
    finite = np.isfinite(series.values)
    steps, values = series.steps[finite], series.values[finite]
    pieces = min(len(steps), _MOST_POINTS)
    if not pieces:
        return []
    x = [float(part.mean()) / series.steps_per_epoch for part in np.array_split(steps, pieces)]
    y = [float(part.mean()) for part in np.array_split(values, pieces)]
    return list(zip(x, y, strict=True))


def _points(epochs: Column, values: Column) -> Points:
    pairs = zip(epochs.tolist(), values.tolist(), strict=True)
    found = [(float(x), float(y)) for x, y in pairs if np.isfinite(y)]
    step = -(-len(found) // _MOST_POINTS) or 1
    return found if step == 1 else [*found[::step], found[-1]]


def _line(
    points: Points, axes: Axes, color: str, *, width: float, opacity: float = 1.0
) -> list[Mark]:
    low, high = axes.top, axes.top + axes.height
    at = [(axes.x(x), min(max(axes.y(y), low), high)) for x, y in points]
    if len(at) == 1:
        x, y = at[0]
        return [Rect(x=x - 3, y=y - 3, width=6, height=6, fill=color, radius=3)]
    return [Line(points=at, stroke=color, width=width, opacity=opacity)] if at else []


def _phase_marks(series: Series, axes: Axes) -> list[Mark]:
    after = series.fine_tuning_after
    if not after or after > axes.high_x:
        return []
    x = axes.x(after)
    words = "fine-tuning"
    return [
        Line(
            points=[(x, axes.top), (x, axes.top + axes.height)],
            stroke="fine_tuning",
            is_dashed=True,
        ),
        Label(
            x=min(x + 5, axes.left + axes.width - text_width(words, 11)),
            y=axes.top + axes.height - 6,
            text=words,
            size=11,
            color="fine_tuning",
        ),
    ]


def _best_marks(series: Series, axes: Axes, points: Points) -> list[Mark]:
    """A ring at the best epoch."""
    best = next(((x, y) for x, y in points if x == series.best_epoch), None)
    if best is None:
        return []
    x, y = axes.x(best[0]), min(max(axes.y(best[1]), axes.top), axes.top + axes.height)
    return [
        Rect(x=x - 5, y=y - 5, width=10, height=10, fill="panel", stroke="text", radius=5),
        Rect(x=x - 2, y=y - 2, width=4, height=4, fill="text", radius=2),
    ]


def _legend(history: MetricHistory) -> list[Mark]:
    """What the lines are, below the plots."""
    series = history.series(LOSS)
    names = [("train", "training: mean of the epoch, and batches (faint)")]
    if np.isfinite(series.epoch_validation).any():
        on_test = " (the test images)" if history.is_validated_on_test else ""
        names.append(("validation", f"validation{on_test}"))
    x, y = _LEFTS[0], _HEIGHT - 14
    marks: list[Mark] = []
    for color, words in names:
        marks.append(Line(points=[(x, y - 4), (x + 22, y - 4)], stroke=color, width=3))
        marks.append(Label(x=x + 30, y=y, text=words, size=12, color="dim"))
        x += 52 + text_width(words, 12)
    if series.best_epoch:
        marks.append(Rect(x=x, y=y - 9, width=10, height=10, fill="panel", stroke="text", radius=5))
        marks.append(Rect(x=x + 3, y=y - 6, width=4, height=4, fill="text", radius=2))
        marks.append(Label(x=x + 17, y=y, text=series.best_words, size=12, color="dim"))
    return marks


def _percent(value: float) -> str:
    return f"{value * 100:.0f}%"


def _plain(value: float) -> str:
    return f"{value:.3g}"
