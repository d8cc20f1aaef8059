"""One edge as a line from a card's lower side to another's upper side."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPainterPathStroker
from PySide6.QtWidgets import QGraphicsItem

from workbench.core.network.graph import Edge
from workbench.gui.design.canvas.item import CanvasItem, Shown, scale_of
from workbench.gui.design.canvas.routing import Route
from workbench.gui.design.canvas.style import DETAIL_FROM, CanvasStyle, rounded_path

GRAB_WIDTH = 14.0
"""How near the pointer must be, across, in scene pixels."""


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
        self._grab = QPainterPath()
        self._bounds = QRectF()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)

    def set_route(self, route: Route) -> None:
        """Runs along other points."""
        if route == self.route:
            return
        self.prepareGeometryChange()
        self.route = route
        self._path = rounded_path([QPointF(x, y) for x, y in route])
        stroker = QPainterPathStroker()
        stroker.setWidth(GRAB_WIDTH)
        self._grab = stroker.createStroke(self._path)
        self._bounds = self._path.boundingRect().adjusted(-4, -4, 4, 4)
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
        return self._bounds.intersects(scene_rect) and self._grab.intersects(scene_rect)

    def boundingRect(self) -> QRectF:
        return self._bounds

    def shape(self) -> QPainterPath:
        return self._grab

    def draw(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, not self.is_straight)
        is_far = scale_of(painter) < DETAIL_FROM
        usual = self._look.far_edge_pen if is_far else self._look.edge_pen
        is_marked = self.is_hot or self.isSelected()
        painter.setPen(self._look.hot_edge_pen if is_marked else usual)
        painter.setOpacity(0.35 if self.is_faded else 1.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._path)
