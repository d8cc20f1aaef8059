"""Marks that live only during a gesture: rings at ports, the ghost card, guide lines, the
line being dragged, the rubber band.
"""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
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
    """Where the layer being dragged would stand."""

    LEVEL = 5.0

    def __init__(self, title: str, height: float, look: CanvasStyle) -> None:
        super().__init__(look)
        self._title = title
        self._height = height
        self._link_from: QPointF | None = None
        self._card = QRectF(0, 0, NODE_WIDTH, height)

    def stand_at(self, x: float, y: float) -> None:
        """Stands as a card, its top-left corner at a scene point."""
        self._resize(NODE_WIDTH, self._height)
        self.setPos(x, y)

    def stand_on_line(self, middle: QPointF) -> None:
        """Sits on a line as a small tag, which hides neither of its cards."""
        width = self._look.title_ink.metrics.horizontalAdvance(self._title) + 2 * PADDING
        self._resize(width, _TAG_HEIGHT)
        self.setPos(middle - self._card.center())

    def _resize(self, width: float, height: float) -> None:
        self.prepareGeometryChange()
        self._card = QRectF(0, 0, width, height)

    def link_from(self, scene_point: QPointF | None) -> None:
        """Draws the edge that would come with the layer."""
        self.prepareGeometryChange()
        self._link_from = None if scene_point is None else scene_point - self.pos()
        self.update()

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
        painter.setFont(look.title_ink.font)
        painter.setPen(look.title_ink.color)
        place = self._card.adjusted(PADDING, 0, 0, 0)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, left | Qt.TextFlag.TextSingleLine, self._title)


class GuideItem(CanvasItem):
    """Thin lines, in scene pixels, that show what the moved cards are lined up with."""

    LEVEL = 3.0
    lines = Shown[list[QLineF]]([], reshapes=True)

    def boundingRect(self) -> QRectF:
        bounds = QRectF()
        for line in self.lines:
            bounds = bounds.united(QRectF(line.p1(), line.p2()).normalized().adjusted(-2, -2, 2, 2))
        return bounds

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

    def __init__(self, look: CanvasStyle) -> None:
        super().__init__(look)
        self._path = QPainterPath()
        self._is_refused = False

    def set_line(self, start: QPointF, end: QPointF, *, is_refused: bool = False) -> None:
        """Runs from an output to an input, or to the pointer."""
        self.prepareGeometryChange()
        bend = max(24.0, abs(end.y() - start.y()) / 2)
        self._path = QPainterPath(start)
        self._path.cubicTo(start + QPointF(0, bend), end - QPointF(0, bend), end)
        self._is_refused = is_refused
        self.update()

    def boundingRect(self) -> QRectF:
        return self._path.boundingRect().adjusted(-6, -6, 6, 6)

    def draw(self, painter: QPainter) -> None:
        pen = self._look.bad_line_pen if self._is_refused else self._look.hot_edge_pen
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        painter.drawPath(self._path)
        painter.setBrush(pen.color())
        painter.drawEllipse(self._path.currentPosition(), 3.5, 3.5)
