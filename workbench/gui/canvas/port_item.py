"""Marks that live only during a gesture: rings at ports, the ghost card, guide lines."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from workbench.core.layout import NODE_WIDTH
from workbench.gui.canvas.look import PADDING, PORT_RADIUS, RADIUS, Look

_TAG_HEIGHT = 26.0


class PortItem(QGraphicsItem):
    """A ring at a port where the connection being dragged may end."""

    def __init__(self, node_id: str, look: Look) -> None:
        super().__init__()
        self.node_id = node_id
        self._look = look
        self._is_near = False
        self.setZValue(6)

    def set_near(self, is_near: bool) -> None:  # noqa: FBT001 - a setter as Qt's are
        """Fills the ring while the pointer is close enough to connect."""
        if is_near != self._is_near:
            self._is_near = is_near
            self.update()

    def boundingRect(self) -> QRectF:
        size = PORT_RADIUS * 2 + 4
        return QRectF(-size, -size, 2 * size, 2 * size)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._look.selected_pen)
        painter.setBrush(self._look.accent if self._is_near else self._look.panel)
        radius = PORT_RADIUS + (3 if self._is_near else 1)
        painter.drawEllipse(QPointF(0, 0), radius, radius)


class GhostItem(QGraphicsItem):
    """Where the layer being dragged would stand."""

    def __init__(self, title: str, height: float, look: Look) -> None:
        super().__init__()
        self._title = title
        self._height = height
        self._look = look
        self._link_from: QPointF | None = None
        self._card = QRectF(0, 0, NODE_WIDTH, height)
        self.setZValue(5)

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

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
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


class GuideItem(QGraphicsItem):
    """Thin lines that show what the moved cards are lined up with."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._lines: list[QLineF] = []
        self.setZValue(3)

    def set_lines(self, lines: list[QLineF]) -> None:
        """Shows these lines, in scene pixels."""
        if lines != self._lines:
            self.prepareGeometryChange()
            self._lines = lines
            self.update()

    def boundingRect(self) -> QRectF:
        bounds = QRectF()
        for line in self._lines:
            bounds = bounds.united(QRectF(line.p1(), line.p2()).normalized().adjusted(-2, -2, 2, 2))
        return bounds

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        painter.setPen(self._look.ghost_pen)
        painter.drawLines(self._lines)


class RubberBandItem(QGraphicsItem):
    """The rectangle drawn over the canvas to select what is in it."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._rect = QRectF()
        self.setZValue(6)

    def set_rect(self, rect: QRectF) -> None:
        """Spans another rectangle, in scene pixels."""
        self.prepareGeometryChange()
        self._rect = rect
        self.update()

    def boundingRect(self) -> QRectF:
        return self._rect.adjusted(-2, -2, 2, 2)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        fill = QColor(self._look.accent_soft)
        fill.setAlphaF(0.4)
        painter.setPen(self._look.ghost_pen)
        painter.setBrush(fill)
        painter.drawRect(self._rect)
