"""Marks that exist only during a gesture: rings at ports, the ghost card, guide lines, the
line being dragged, the rubber band.
"""

from __future__ import annotations

from functools import reduce

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath

from workbench.core.network.layout import NODE_WIDTH
from workbench.gui.design.canvas.item import CanvasItem, Shown
from workbench.gui.design.canvas.style import PADDING, PORT_RADIUS, RADIUS, CanvasStyle

_TAG_HEIGHT = 26.0


class PortItem(CanvasItem):
    """A ring at a port where the connection being dragged may end, filled when it would."""

    LEVEL = 6.0
    is_near = Shown(False)

    def boundingRect(self) -> QRectF:
        size = PORT_RADIUS * 2 + 4
        return QRectF(-size, -size, 2 * size, 2 * size)

    def draw(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._look.selected_pen)
        painter.setBrush(self._look.accent if self.is_near else self._look.panel)
        radius = PORT_RADIUS + (3 if self.is_near else 1)
        painter.drawEllipse(QPointF(0, 0), radius, radius)


class GhostItem(CanvasItem):
    """Outline of the place that a dragged layer would get."""

    LEVEL = 5.0
    _link_from = Shown[QPointF | None](None, reshapes=True)
    _card = Shown(QRectF(), reshapes=True)

    def __init__(self, title: str, height: float, look: CanvasStyle) -> None:
        super().__init__(look)
        self._title = title
        self._height = height

    def place_at(self, x: float, y: float) -> None:
        """Shows a card, its top-left corner at a scene point."""
        self._card = QRectF(0, 0, NODE_WIDTH, self._height)
        self.setPos(x, y)

    def place_on_line(self, middle: QPointF) -> None:
        """Shows a small tag on a line, which hides neither of its cards."""
        width = self._look.title_ink.metrics.horizontalAdvance(self._title) + 2 * PADDING
        self._card = QRectF(0, 0, width, _TAG_HEIGHT)
        self.setPos(middle - self._card.center())

    def link_from(self, scene_point: QPointF | None) -> None:
        """Draws the edge that would come with the layer."""
        self._link_from = None if scene_point is None else scene_point - self.pos()

    def boundingRect(self) -> QRectF:
        bounds = self._card
        if self._link_from is not None:
            bounds = bounds.united(QRectF(self._link_from, bounds.topLeft()).normalized())
        return bounds.adjusted(-4, -4, 4, 4)

    def draw(self, painter: QPainter) -> None:
        look = self._look
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.ghost_pen)
        if self._link_from is not None:
            painter.drawLine(self._link_from, QPointF(NODE_WIDTH / 2, 0))
        painter.setBrush(look.accent_soft)
        painter.drawRoundedRect(self._card, RADIUS, RADIUS)
        look.title_ink.draw(painter, self._card.adjusted(PADDING, 0, 0, 0), self._title)


class GuideItem(CanvasItem):
    """Thin lines, in scene pixels, that show what the moved cards are lined up with."""

    LEVEL = 3.0
    lines = Shown[list[QLineF]]([], reshapes=True)

    def boundingRect(self) -> QRectF:
        boxes = [QRectF(line.p1(), line.p2()).normalized() for line in self.lines]
        return reduce(QRectF.united, (box.adjusted(-2, -2, 2, 2) for box in boxes), QRectF())

    def draw(self, painter: QPainter) -> None:
        painter.setPen(self._look.ghost_pen)
        painter.drawLines(self.lines)


class RubberBandItem(CanvasItem):
    """The rectangle, in scene pixels, drawn over the canvas to select what is in it."""

    LEVEL = 6.0
    rect = Shown(QRectF(), reshapes=True)

    def boundingRect(self) -> QRectF:
        return self.rect.adjusted(-2, -2, 2, 2)

    def draw(self, painter: QPainter) -> None:
        fill = QColor(self._look.accent_soft)
        fill.setAlphaF(0.4)
        painter.setPen(self._look.ghost_pen)
        painter.setBrush(fill)
        painter.drawRect(self.rect)


class DraftEdgeItem(CanvasItem):
    """The line that follows the pointer while a connection is dragged."""

    LEVEL = 5.0
    _path = Shown(QPainterPath(), reshapes=True)
    _is_refused = Shown(False)

    def set_line(self, start: QPointF, end: QPointF, *, is_refused: bool = False) -> None:
        """Runs from an output to an input, or to the pointer."""
        bend = max(24.0, abs(end.y() - start.y()) / 2)
        path = QPainterPath(start)
        path.cubicTo(start + QPointF(0, bend), end - QPointF(0, bend), end)
        self._path, self._is_refused = path, is_refused

    def boundingRect(self) -> QRectF:
        return self._path.boundingRect().adjusted(-6, -6, 6, 6)

    def draw(self, painter: QPainter) -> None:
        pen = self._look.bad_line_pen if self._is_refused else self._look.hot_edge_pen
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        painter.drawPath(self._path)
        painter.setBrush(pen.color())
        painter.drawEllipse(self._path.currentPosition(), 3.5, 3.5)
