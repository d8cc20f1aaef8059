"""The learning rate over the epochs to come, drawn before anything is trained."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from workbench.core.format import epochs_text, rate_text
from workbench.core.training.learning_rates import curve, end_rate, warm_up_steps
from workbench.core.training.recipe import TrainingRecipe
from workbench.gui.kit.theme import Theme

_HEIGHT_PX = 116
_TEXT_PX = 11
_TOP_PX, _BOTTOM_PX = 18, 18
_FILL_ALPHA = 36
_POINTS = 240


def schedule_words(recipe: TrainingRecipe, steps_per_epoch: int) -> str:
    """The schedule in a sentence, for those who do not see the curve."""
    total = recipe.epochs * steps_per_epoch
    warm_up = warm_up_steps(recipe, total, steps_per_epoch) / steps_per_epoch
    climb = f"Linear warm-up ({epochs_text(warm_up)}) to {rate_text(recipe.peak_rate)}"
    start = climb if warm_up else f"Starts at {rate_text(recipe.peak_rate)}"
    spec = recipe.schedule_spec
    return f"{start}, {spec.describe(recipe.values_of(spec), recipe.peak_rate)}."


class ScheduleCurve(QWidget):
    """A small plot of a recipe's schedule; the mouse reads it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._recipe = TrainingRecipe()
        self._steps_per_epoch = 1
        self._epochs = np.zeros(0)
        self._rates = np.zeros(0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName("Learning rate over the epochs")
        theme.changed.connect(self.update)
        self.set_recipe(self._recipe, 1)

    def set_recipe(self, recipe: TrainingRecipe, steps_per_epoch: int) -> None:
        """Draws the schedule of a recipe; cheap enough for every key typed.

        Args:
            recipe: The recipe.
            steps_per_epoch: About how many steps an epoch will have, at least 1.
        """
        self._recipe, self._steps_per_epoch = recipe, max(1, steps_per_epoch)
        steps, rates = curve(
            recipe, recipe.epochs * self._steps_per_epoch, self._steps_per_epoch, _POINTS
        )
        self._epochs, self._rates = steps / self._steps_per_epoch, rates
        self.setAccessibleDescription(schedule_words(recipe, self._steps_per_epoch))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, _HEIGHT_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, _HEIGHT_PX)

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

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.font(_TEXT_PX, tabular=True))
        area = self._area()
        self._draw_axes(painter, area)
        points = self._points(area)
        color = QColor(self._theme.colors.accent)
        soft = QColor(color)
        soft.setAlpha(_FILL_ALPHA)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        ends = [
            QPointF(points[-1].x(), area.bottom()),
            QPointF(points[0].x(), area.bottom()),
        ]
        painter.drawPolygon(QPolygonF([*points, *ends]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 1.8))
        painter.drawPolyline(QPolygonF(points))

    def _area(self) -> QRectF:
        return QRectF(1, _TOP_PX, self.width() - 2, self.height() - _TOP_PX - _BOTTOM_PX)

    def _points(self, area: QRectF) -> list[QPointF]:
        x = area.left() + area.width() * self._epochs / self._recipe.epochs
        y = area.bottom() - area.height() * self._rates / self._recipe.peak_rate
        # The last step lasts to the end of its epoch.
        return [
            *(QPointF(*point) for point in zip(x.tolist(), y.tolist(), strict=True)),
            QPointF(area.right(), float(y[-1])),
        ]

    def _draw_axes(self, painter: QPainter, area: QRectF) -> None:
        colors = self._theme.colors
        painter.setPen(QPen(QColor(colors.line), 1))
        for y in (area.top(), area.bottom()):
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(QColor(colors.dim))
        above = QRectF(area.left(), 0, area.width(), _TOP_PX - 3)
        below = QRectF(area.left(), area.bottom() + 3, area.width(), _BOTTOM_PX - 3)
        left, right = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
        painter.drawText(
            above, left | Qt.AlignmentFlag.AlignBottom, rate_text(self._recipe.peak_rate)
        )
        steps = self._steps_per_epoch
        end = end_rate(self._recipe, self._recipe.epochs * steps, steps)
        last = f"final {rate_text(end)}"
        if not self._recipe.schedule_spec.follows_metric:
            painter.drawText(above, right | Qt.AlignmentFlag.AlignBottom, last)
        painter.drawText(below, left | Qt.AlignmentFlag.AlignTop, "0")
        epochs = f"{self._recipe.epochs:,} epochs" if self._recipe.epochs > 1 else "1 epoch"
        painter.drawText(below, right | Qt.AlignmentFlag.AlignTop, epochs)
