"""What the finders measured: loss over the learning rate, speed over the batch size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy

from workbench.core.format import bytes_text, count, number_text, plural, rate_text, share
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import PaintedWidget
from workbench.gui.plots.axes import PlotAxes, XAxis
from workbench.gui.plots.smoothing import BiasCorrectedAverage, weight_of

Numbers = np.ndarray[Any, np.dtype[np.float64]]

BAR_PX = 22
GAP_PX = 10
LEAST_ROW_PX = 18
TEXT_PX = 12


class RateAxis(XAxis):
    """Learning rates at powers of ten and their multiples."""

    def words(self, value: float) -> str:
        return rate_text(value)


class LearningRatePlot(PlotAxes):
    """Loss over the learning rate, which is logarithmic; the suggestion is marked.

    The mouse reads the nearest rate that was tried (tooltip).

    Args:
        theme: Colors.
        lowest, highest: Ends of the axis, which stays while points arrive.
    """

    def __init__(self, theme: Theme, lowest: float, highest: float) -> None:
        super().__init__(theme, RateAxis())
        self.setAccessibleName("Loss over learning rate")
        self.setMinimumSize(240, 90)
        self.set_x_range((math.log10(lowest), math.log10(highest)))
        self.raw = pg.PlotCurveItem(antialias=True, connect="finite")
        self.smooth = pg.PlotCurveItem(antialias=True, connect="finite")
        for z, item in ((10, self.raw), (11, self.smooth)):
            item.setZValue(z)
            self.plot_item.addItem(item, ignoreBounds=True)
        self._rates = self._losses = np.empty(0)
        self._suggested: float | None = None
        self.set_x_kind("step", "learning rate", is_log=True)
        self.box.setMouseEnabled(x=False, y=False)
        self.hovered.connect(self._on_hovered)
        theme.changed.connect(self._draw)

    def set_result(
        self, rates: Sequence[float], losses: Sequence[float | None], suggested: float | None
    ) -> None:
        """Shows what was tried; call again while points arrive.

        Args:
            rates: Learning rates, rising, above 0.
            losses: The loss at each; None where it was not finite.
            suggested: The proposed rate, None while there is none.
        """
        self._rates = np.array(rates, dtype=np.float64)
        self._losses = np.array(losses, dtype=np.float64)
        self._suggested = suggested
        self._draw()

    def _draw(self) -> None:
        colors = self._theme.colors
        faint = QColor(colors.train)
        faint.setAlpha(90)
        self.raw.setPen(pg.mkPen(faint))
        self.smooth.setPen(pg.mkPen(QColor(colors.train), width=2.0))
        smooth = BiasCorrectedAverage(weight_of(5.0)).extend(self._losses)
        x = np.log10(self._rates)
        self.raw.setData(x, self._losses)
        self.smooth.setData(x, np.where(np.isfinite(self._losses), smooth, np.nan))
        self._fit(smooth)
        self.show_line(None if self._suggested is None else float(np.log10(self._suggested)))

    def _fit(self, smooth: Numbers) -> None:
        """Fits the view to all but the end, where the loss explodes and would flatten the rest."""
        finite = smooth[np.isfinite(smooth)]
        if not len(finite):
            return
        low, start = float(np.min(finite)), float(np.max(finite[: max(1, len(finite) // 4)]))
        self.set_y_range((low, max(start + (start - low), start * 1.05, low + 1e-6)))

    def _on_hovered(self, x: object) -> None:
        tip = ""
        if isinstance(x, float) and len(self._rates):
            at = int(np.argmin(np.abs(np.log10(self._rates) - x)))
            loss = float(self._losses[at])
            words = number_text(loss) if np.isfinite(loss) else "NaN"
            tip = f"learning rate {rate_text(self._rates[at])}: loss {words}"
        self.setToolTip(tip)


@dataclass(frozen=True)
class BatchSizePoint:
    """A batch size that was tried.

    Attributes:
        batch_size: Images of a step.
        images_per_second: None where it did not fit.
        memory_bytes: None where it is not known.
        problem: Why it did not fit, for people; "" when it did.
        times: How often it was measured.
        spread: How far these measurements are apart, 0..1 of the highest.
    """

    batch_size: int
    images_per_second: float | None
    memory_bytes: int | None = None
    problem: str = ""
    times: int = 1
    spread: float = 0.0

    @property
    def again(self) -> str:
        """How far its measurements are apart, in words; "" for a single one."""
        return f", spread {share(self.spread, 0)}" if self.times > 1 else ""


class BatchSizePlot(PaintedWidget):
    """A bar of images/s for each batch size, with its memory; the chosen one stands out.

    Args:
        theme: Colors and fonts.
        sizes: Batch sizes that bars may come for: their room is kept from the start.
    """

    def __init__(self, theme: Theme, sizes: Sequence[int] = ()) -> None:
        super().__init__(theme, QSize(300, 0), least_px=240)
        self._sizes = list(sizes)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._keep_room(0)
        self._points: list[BatchSizePoint] = []
        self._chosen: int | None = None
        self.setAccessibleName("Images per second over batch size")

    def set_result(self, points: Sequence[BatchSizePoint], chosen: int | None) -> None:
        """Shows what was tried; call again while sizes are tried."""
        self._points, self._chosen = list(points), chosen
        self.setAccessibleDescription("; ".join(self.words(point) for point in points))
        self._keep_room(len(points))
        self.update()

    def _keep_room(self, num_points: int) -> None:
        rows = max(1, num_points, len(self._sizes))
        if self._hint.height() != rows * (BAR_PX + GAP_PX):
            self._hint.setHeight(rows * (BAR_PX + GAP_PX))
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        """On a low screen the bars are closer and thinner, all of them."""
        rows = self._hint.height() // (BAR_PX + GAP_PX)
        return QSize(self._least_px, rows * LEAST_ROW_PX)

    def words(self, point: BatchSizePoint) -> str:
        """A bar in words."""
        if point.images_per_second is None:
            return f"batch {count(point.batch_size)}: {point.problem or 'does not fit'}"
        memory = f", {bytes_text(point.memory_bytes)}" if point.memory_bytes else ""
        chosen = " (chosen)" if point.batch_size == self._chosen else ""
        speed = count(round(point.images_per_second))
        return f"batch {count(point.batch_size)}: {speed} images/s{memory}{point.again}{chosen}"

    def paint(self, painter: QPainter) -> None:
        painter.setFont(self._theme.font(TEXT_PX, weight=600, tabular=True))
        metrics = painter.fontMetrics()
        sizes = [*self._sizes, *(point.batch_size for point in self._points)]
        left = max((metrics.horizontalAdvance(count(size)) for size in sizes), default=0) + GAP_PX
        pitch = self.height() * (BAR_PX + GAP_PX) / self._hint.height()
        bar_px = min(float(BAR_PX), pitch - 2)
        for row, point in enumerate(self._points):
            top = row * pitch
            name = QRectF(0, top, left - GAP_PX, bar_px)
            self._paint_name(painter, name, point)
            room = QRectF(left, top, self.width() - left, bar_px)
            if point.images_per_second is None:
                self._paint_problem(painter, room, point)
            else:
                self._paint_bar(painter, room, point)

    def _paint_name(self, painter: QPainter, place: QRectF, point: BatchSizePoint) -> None:
        colors = self._theme.colors
        is_chosen = point.batch_size == self._chosen
        painter.setFont(self._theme.font(TEXT_PX, weight=600 if is_chosen else 400, tabular=True))
        painter.setPen(QColor(colors.text if is_chosen else colors.dim))
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(place, side, count(point.batch_size))

    def _paint_bar(self, painter: QPainter, room: QRectF, point: BatchSizePoint) -> None:
        colors = self._theme.colors
        best = max(each.images_per_second or 0.0 for each in self._points)
        part = (point.images_per_second or 0.0) / max(best, 1e-9)
        bar = QRectF(room)
        bar.setWidth(max(2.0, 0.45 * room.width() * part))  # the rest is for the text
        is_chosen = point.batch_size == self._chosen
        painter.setBrush(QColor(colors.accent if is_chosen else colors.faint))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRoundedRect(bar, 4, 4)
        painter.setPen(QColor(colors.text))
        beside = room.adjusted(bar.width() + GAP_PX, 0, 0, 0)
        painter.drawText(beside, Qt.AlignmentFlag.AlignVCenter, self.words(point).split(": ", 1)[1])

    def _paint_problem(self, painter: QPainter, room: QRectF, point: BatchSizePoint) -> None:
        colors = self._theme.colors
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colors.line), 1, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(room.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setPen(QColor(colors.dim))
        inner = room.adjusted(GAP_PX, 0, -GAP_PX, 0)
        shorten, side = painter.fontMetrics().elidedText, Qt.TextElideMode.ElideRight
        words = shorten(point.problem or "does not fit", side, int(inner.width()))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, words)


# trial plot ----------------------------------------------------------------------------------
# What short trainings with a few learning rates came to: accuracy over the rate.


@dataclass(frozen=True)
class TrialPoint:
    """A short training.

    Attributes:
        rate: Learning rate.
        steps: Its length.
        accuracy: Training accuracy at its end, 0..1; None where it diverged.
    """

    rate: float
    steps: int
    accuracy: float | None

    @property
    def words(self) -> str:
        """The point in words."""
        found = "diverged" if self.accuracy is None else f"{share(self.accuracy)} accuracy"
        return f"learning rate {rate_text(self.rate)}: {found} after {plural(self.steps, 'step')}"


class TrialPlot(PlotAxes):
    """Accuracy over the learning rate, a line for each length of training; the suggested rate is
    ringed, and the good range is a band. The mouse reads the nearest rate (tooltip).
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, RateAxis(), is_share=True)
        self.setAccessibleName("Training accuracy over learning rate")
        self.setMinimumSize(240, 90)
        self._points: list[TrialPoint] = []
        self._suggested: float | None = None
        self._good: tuple[float, float] | None = None
        self.short = pg.PlotCurveItem(antialias=True)
        self.long = pg.PlotCurveItem(antialias=True)
        self.band = pg.LinearRegionItem(movable=False, pen=pg.mkPen(None))
        for z, item in ((5, self.band), (10, self.short), (11, self.long)):
            item.setZValue(z)
            self.plot_item.addItem(item, ignoreBounds=True)
        self.set_x_kind("step", "learning rate", is_log=True)
        self.reserve_strip()  # for the words of the ring, which come last
        self.box.setMouseEnabled(x=False, y=False)
        self.hovered.connect(self._on_hovered)
        theme.changed.connect(self._draw)
        self._draw()

    def set_points(
        self,
        points: Sequence[TrialPoint],
        suggested: float | None = None,
        good: Sequence[float] = (),
    ) -> None:
        """Shows what was tried; call again while points arrive.

        Args:
            points: The trainings in any order.
            suggested: The proposed rate, None while there is none.
            good: Lowest and highest of the good rates, or nothing.
        """
        self._points = list(points)
        self._suggested = suggested
        self._good = (good[0], good[-1]) if good else None
        self.setAccessibleDescription("; ".join(point.words for point in points))
        self._draw()

    def _draw(self) -> None:
        colors = self._theme.colors
        self.short.setPen(pg.mkPen(QColor(colors.dim)))
        self.long.setPen(pg.mkPen(QColor(colors.train), width=2.0))
        longest = max((point.steps for point in self._points), default=0)
        lengths = {point.steps for point in self._points}
        long = [p for p in self._points if p.steps == longest and len(lengths) > 1]
        short = [p for p in self._points if p not in long]
        lines = []
        for curve, points, color in (
            (self.short, short, colors.dim),
            (self.long, long, colors.train),
        ):
            x, y = _curve(points)
            curve.setData(x, y)
            lines.append((x, y, color))
        self.set_dots(lines, is_log=False)
        self._fit()
        self._mark(long or short)

    def _fit(self) -> None:
        values = [point.accuracy or 0.0 for point in self._points]
        self.set_y_range((min(values, default=0.0), max(values, default=1.0)))

    def _mark(self, decisive: Sequence[TrialPoint]) -> None:
        self.band.setVisible(self._good is not None)
        if self._good is not None:
            ground = QColor(self._theme.colors.good)
            ground.setAlpha(38)
            self.band.setBrush(ground)
            low, high = (float(np.log10(rate)) for rate in self._good)
            self.band.setRegion((low - 0.1, high + 0.1))
        chosen = [point for point in decisive if point.rate == self._suggested]
        if not chosen or self._suggested is None:
            self.show_best(None, "")
            return
        place = QPointF(float(np.log10(self._suggested)), chosen[0].accuracy or 0.0)
        self.show_best(place, f"suggested: {rate_text(self._suggested)}")

    def _on_hovered(self, x: object) -> None:
        tip = ""
        if isinstance(x, float) and self._points:
            apart = [abs(float(np.log10(point.rate)) - x) for point in self._points]
            near = [p for p, gap in zip(self._points, apart, strict=True) if gap == min(apart)]
            tip = max(near, key=lambda point: point.steps).words
        self.setToolTip(tip)


def _curve(points: Sequence[TrialPoint]) -> tuple[list[float], list[float]]:
    """Logarithms of the rates, rising, and the accuracies; what diverged has none."""
    ranked = sorted(points, key=lambda point: point.rate)
    return [float(np.log10(p.rate)) for p in ranked], [p.accuracy or 0.0 for p in ranked]
