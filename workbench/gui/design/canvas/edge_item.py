"""One edge as a line from a card's lower side to another's upper side."""

from __future__ import annotations

import math
from itertools import repeat

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPainterPathStroker, QPolygonF
from PySide6.QtWidgets import QGraphicsItem

from workbench.core.network.graph import Edge
from workbench.core.network.routing import Route
from workbench.gui.design.canvas.item import CanvasItem, Shown, scale_of
from workbench.gui.design.canvas.style import DETAIL_FROM, CanvasStyle, rounded_path

LINE_REACH = 7.0
"""How near the pointer must be to a line, in scene pixels at 100%."""


_END_RADIUS = 7.0


class EdgeItem(CanvasItem):
    """A line along a route; it draws what it is given and never writes to the graph.

    Attributes:
        is_hot: Something will happen here.
        is_faded: Its end is being dragged elsewhere.
    """

    is_hot = Shown(False)
    is_faded = Shown(False)

    def __init__(self, edge: Edge, look: CanvasStyle) -> None:
        super().__init__(look)
        self.edge = edge
        self.route: Route = ()
        self._path = QPainterPath()
        self._grab: QPainterPath | None = None  # made when it is needed: that takes time
        self._line: QPolygonF | None = None  # so is this
        self._bounds = QRectF()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)

    def set_route(self, route: Route) -> None:
        """Runs along other points."""
        if route == self.route:
            return
        self.prepareGeometryChange()
        self.route = route
        self._path = rounded_path([QPointF(x, y) for x, y in route])
        self._grab = self._line = None
        self._bounds = self._path.boundingRect().adjusted(-8, -8, 8, 8)
        self.update()

    def end_point(self) -> QPointF:
        """Scene point at the target."""
        return QPointF(*self.route[-1]) if self.route else QPointF()

    def middle_point(self) -> QPointF:
        """Scene point halfway along the line."""
        return self._path.pointAtPercent(0.5) if self.route else QPointF()

    @property
    def is_straight(self) -> bool:
        """True for a line straight down."""
        return len(self.route) == 2 and self.route[0][0] == self.route[1][0]

    def crosses(self, scene_rect: QRectF) -> bool:
        """True when the line runs through a rectangle."""
        return self._bounds.intersects(scene_rect) and self.shape().intersects(scene_rect)

    def distance_to(self, point: QPointF) -> float:
        """Scene pixels from a point to the nearest point of the line."""
        if self._line is None:
            self._line = next(iter(self._path.toSubpathPolygons()), QPolygonF())
        spots = [self._line.at(index) for index in range(self._line.size())]
        return min(map(_to_stretch, repeat(point), spots, spots[1:]), default=math.inf)

    def is_near(self, point: QPointF, reach: float) -> bool:
        """False where a point is certainly further away than that: the quick part."""
        return self._bounds.adjusted(-reach, -reach, reach, reach).contains(point)

    def boundingRect(self) -> QRectF:
        return self._bounds

    def shape(self) -> QPainterPath:
        if self._grab is None:
            stroker = QPainterPathStroker()
            stroker.setWidth(2 * LINE_REACH)
            self._grab = stroker.createStroke(self._path)
        return self._grab

    def draw(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, not self.is_straight)
        is_far = scale_of(painter) < DETAIL_FROM
        usual = self._look.far_edge_pen if is_far else self._look.edge_pen
        if self.isSelected():
            look = self._look
            painter.setPen(look.far_selected_edge_pen if is_far else look.selected_edge_pen)
        else:
            painter.setPen(self._look.hot_edge_pen if self.is_hot else usual)
        painter.setOpacity(0.35 if self.is_faded else 1.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._path)
        if self.isSelected() and self.route:
            self._draw_ends(painter)

    def _draw_ends(self, painter: QPainter) -> None:
        """Draws both ends of a selected line: which layers it connects, also where lines meet."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._look.accent)
        for x, y in (self.route[0], self.route[-1]):
            painter.drawEllipse(QPointF(x, y), _END_RADIUS, _END_RADIUS)


def _to_stretch(point: QPointF, start: QPointF, end: QPointF) -> float:
    """Distance from a point to a straight stretch."""
    along, away = end - start, point - start
    length = QPointF.dotProduct(along, along)
    part = max(0.0, min(1.0, QPointF.dotProduct(away, along) / length)) if length else 0.0
    rest = away - along * part
    return math.hypot(rest.x(), rest.y())
