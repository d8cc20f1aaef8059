"""The two curves of a class: what each threshold finds, and what it takes by mistake."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen

from workbench.core.evaluation.ranking import Drawn, Floats
from workbench.core.format import share
from workbench.gui.evaluate.reliability_figure import ShareFigure
from workbench.gui.kit.theme import Theme

_DOT_PX = 5.0


class CurveFigure(ShareFigure):
    """A curve of shares, the marked point on it, and words for the point under the mouse.

    Signals:
        hovered(str): Words for the nearest point; "" for none.
    """

    hovered = Signal(str)

    def __init__(self, theme: Theme, x_words: str, y_words: str, *, has_diagonal: bool) -> None:
        super().__init__(theme, x_words, y_words)
        self._has_diagonal = has_diagonal
        self._x: Floats = np.zeros(0)
        self._y: Floats = np.zeros(0)
        self.marked: tuple[float, float] | None = None
        self.setMouseTracking(True)

    def set_curve(self, x: Floats, y: Floats, area: float | None) -> None:
        """Shows a curve (m,) with the area below it."""
        self._x, self._y, self.marked = x, y, None
        words = "none" if area is None else f"{area:.3f}"
        self.setAccessibleDescription(f"Area {words}")
        self.update()

    def mark(self, point: tuple[float, float] | None) -> None:
        """Marks the point of a threshold."""
        self.marked = point
        self.update()

    def paint_shares(self, painter: QPainter) -> None:
        """Paints the curve; of a ROC curve also that of chance; and the threshold."""
        colors = self._theme.colors
        if self._has_diagonal:
            painter.setPen(QPen(QColor(colors.dim), 1.2, Qt.PenStyle.DashLine))
            painter.drawLine(self.place(0, 0), self.place(1, 1))
        painter.setPen(QPen(QColor(colors.train), 2))
        points = zip(self._x.tolist(), self._y.tolist(), strict=True)
        painter.drawPolyline([self.place(*point) for point in points])
        if self.marked is not None:
            painter.setPen(QPen(QColor(colors.panel), 1.5))
            painter.setBrush(QColor(colors.validation))
            painter.drawEllipse(self.place(*self.marked), _DOT_PX, _DOT_PX)

    def words_at(self, place: QPointF) -> str:
        """The point of the curve that is nearest to a place in pixels, in words."""
        area = self.area()
        if not len(self._x) or not area.contains(place):
            return ""
        x = (place.x() - area.left()) / area.width()
        y = (area.bottom() - place.y()) / area.height()
        at = int(np.argmin((self._x - x) ** 2 + (self._y - y) ** 2))
        names = zip(self._words, (self._x[at], self._y[at]), strict=True)
        return ", ".join(f"{name.lower()} {share(float(value))}" for name, value in names)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.hovered.emit(self.words_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit("")


def roc_figure(theme: Theme) -> CurveFigure:
    """An empty ROC curve."""
    figure = CurveFigure(theme, "False positive rate", "True positive rate", has_diagonal=True)
    figure.setAccessibleName("ROC curve")
    return figure


def recall_figure(theme: Theme) -> CurveFigure:
    """An empty precision-recall curve."""
    figure = CurveFigure(theme, "Recall", "Precision", has_diagonal=False)
    figure.setAccessibleName("Precision-recall curve")
    return figure


def show(
    roc: CurveFigure, recall: CurveFigure, drawn: Drawn, areas: tuple[float | None, ...]
) -> None:
    """Shows both curves with their areas."""
    roc.set_curve(drawn.false_positive_rate, drawn.true_positive_rate, areas[0])
    recall.set_curve(drawn.recall, drawn.precision, areas[1])
