"""The learning rate over the epochs to come, drawn before anything is trained."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip

from workbench.core.format import epochs_text, plural, rate_text
from workbench.core.training.learning_rates import curve, end_rate, warm_up_steps
from workbench.core.training.recipe import TrainingRecipe
from workbench.gui.kit.painted import PaintedWidget
from workbench.gui.kit.theme import Theme

_WORDS_AWAY_PX = 5
_MARGIN_PX = 18
"""Room for words above the curve, and as much below it."""


def schedule_words(recipe: TrainingRecipe, steps_per_epoch: int) -> str:
    """The schedule in a sentence, for those who do not see the curve."""
    total = recipe.epochs * steps_per_epoch
    warm_up = warm_up_steps(recipe, total, steps_per_epoch) / steps_per_epoch
    climb = f"Linear warm-up ({epochs_text(warm_up)}) to {rate_text(recipe.peak_rate)}"
    start = climb if warm_up else f"Starts at {rate_text(recipe.peak_rate)}"
    spec = recipe.schedule_spec
    words = f"{start}, {spec.describe(recipe.values_of(spec), recipe.peak_rate)}."
    if not recipe.has_fine_tuning:
        return words
    return f"{words} {_fine_tuning_words(recipe)}, at {rate_text(_tuning_rate(recipe))}."


def _fine_tuning_words(recipe: TrainingRecipe) -> str:
    return f"Fine-tuning from epoch {recipe.head_epochs + 1:,}"


def _tuning_rate(recipe: TrainingRecipe) -> float:
    """The learning rate at its full size in the fine-tuning phase."""
    return recipe.in_fine_tuning().peak_rate


class ScheduleCurve(PaintedWidget):
    """A small plot of a recipe's schedule; the mouse reads it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, QSize(220, 116), least_px=120)
        self._recipe = TrainingRecipe()
        self._steps_per_epoch = 1
        self._epochs = self._rates = np.zeros(0)
        self.setMouseTracking(True)
        self.setAccessibleName("Learning rate over the epochs")
        self.set_recipe(self._recipe, 1)

    def set_recipe(self, recipe: TrainingRecipe, steps_per_epoch: int) -> None:
        """Draws the schedule for about so many steps per epoch; cheap enough for each key."""
        self._recipe = recipe
        self._steps_per_epoch = per_epoch = max(1, steps_per_epoch)
        steps, self._rates = curve(recipe, recipe.epochs * per_epoch, per_epoch, 240)
        self._epochs = steps / per_epoch
        self.setAccessibleDescription(schedule_words(recipe, per_epoch))
        self.update()

    def value_at(self, x: float) -> tuple[float, float]:
        """(epoch, learning rate) below a horizontal place in pixels."""
        area = self._area()
        share = min(max((x - area.left()) / max(area.width(), 1.0), 0.0), 1.0)
        epoch = share * self._recipe.epochs
        index = int(np.searchsorted(self._epochs, epoch, side="right")) - 1
        return epoch, float(self._rates[max(index, 0)])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        epoch, rate = self.value_at(event.position().x())
        words = f"epoch {epoch:.1f}: learning rate {rate:.4g}"
        QToolTip.showText(event.globalPosition().toPoint(), words, self)

    def paint(self, painter: QPainter) -> None:
        painter.setFont(self._theme.font(11, tabular=True))
        area = self._area()
        self._draw_axes(painter, area)
        points = self._points(area)
        color = QColor(self._theme.colors.accent)
        soft = QColor(color)
        soft.setAlpha(36)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        ends = [QPointF(points[index].x(), area.bottom()) for index in (-1, 0)]
        painter.drawPolygon(QPolygonF([*points, *ends]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 1.8))
        painter.drawPolyline(QPolygonF(points))
        if self._recipe.has_fine_tuning:
            self._draw_mark(painter, area)

    def _draw_mark(self, painter: QPainter, area: QRectF) -> None:
        """Draws a line where fine-tuning starts, and its words on the side that has room."""
        at = area.left() + area.width() * self._recipe.head_epochs / self._recipe.epochs
        x = math.floor(at) + 0.5  # sharp
        color = QColor(self._theme.colors.fine_tuning)
        painter.setPen(QPen(color, 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        words = _fine_tuning_words(self._recipe)
        width = painter.fontMetrics().horizontalAdvance(words) + 2 * _WORDS_AWAY_PX
        left, right = area.right() - x, x - area.left()
        is_right = left >= width or left >= right
        start = x if is_right else x - width
        place = QRectF(start, area.top() + 2, width, _MARGIN_PX).adjusted(
            _WORDS_AWAY_PX, 0, -_WORDS_AWAY_PX, 0
        )
        place.moveLeft(min(max(place.left(), area.left()), max(area.left(), area.right() - width)))
        painter.setPen(color)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)

    def _area(self) -> QRectF:
        return QRectF(1, _MARGIN_PX, self.width() - 2, self.height() - 2 * _MARGIN_PX)

    def _points(self, area: QRectF) -> list[QPointF]:
        x = area.left() + area.width() * self._epochs / self._recipe.epochs
        y = area.bottom() - area.height() * self._rates / self._highest()
        # The last step lasts to the end of its epoch.
        ends = np.append(x, area.right()), np.append(y, y[-1])
        return [QPointF(*point) for point in zip(*ends, strict=True)]

    def _highest(self) -> float:
        """The rate at the top of the plot."""
        recipe = self._recipe
        tuning = _tuning_rate(recipe) if recipe.has_fine_tuning else 0.0
        return max(recipe.peak_rate, tuning)

    def _draw_axes(self, painter: QPainter, area: QRectF) -> None:
        colors = self._theme.colors
        painter.setPen(QPen(QColor(colors.line), 1))
        for y in (area.top(), area.bottom()):
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(QColor(colors.dim))
        above = QRectF(area.left(), 0, area.width(), _MARGIN_PX - 3)
        below = above.translated(0, area.bottom() + 3)
        left, right = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        top, bottom = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignBottom
        painter.drawText(above, left | bottom, rate_text(self._highest()))
        steps = self._steps_per_epoch
        end = end_rate(self._recipe, self._recipe.epochs * steps, steps)
        if not self._recipe.schedule_spec.follows_metric:
            painter.drawText(above, right | bottom, f"final {rate_text(end)}")
        painter.drawText(below, left | top, "0")
        painter.drawText(below, right | top, plural(self._recipe.epochs, "epoch"))
