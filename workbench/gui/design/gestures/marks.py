"""Marks that exist only during a gesture: rings at ports, the ghost card, guide lines, the
line being dragged, the rubber band.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath

from workbench.core.network.graph import Edge
from workbench.core.network.layout import BRANCH_GAP, GAP, NODE_WIDTH, Position, node_size
from workbench.core.specs import LayerSpec
from workbench.document import placement
from workbench.gui.design.canvas.items import CanvasItem, EdgeItem, NodeItem, Shown
from workbench.gui.design.canvas.scene import GraphScene
from workbench.gui.design.canvas.style import PADDING, PORT_RADIUS, RADIUS, CanvasStyle

# placement -----------------------------------------------------------------------------------
# Placement of a new layer: on a line, behind an open end, or free. One rule for all ways.

_REACH_DOWN = 280.0
_REACH_ACROSS = 250.0
_NEAR_EDGE = 14.0


@dataclass(frozen=True)
class Placement:
    """A place for a new layer.

    Attributes:
        position: Top-left corner of its card.
        after: Node whose output feeds it, or None.
        edge: Edge that it is inserted on, or None.
    """

    position: Position
    after: str | None = None
    edge: Edge | None = None


def card_height(spec: LayerSpec, scene: GraphScene) -> float:
    """Height of a new card of this kind."""
    return node_size(spec.key, spec.defaults(), scene.layers)[1]


def place_at(scene: GraphScene, spec: LayerSpec, point: QPointF) -> Placement:
    """The place for a layer that is dropped at a scene point.

    On a line, or anywhere between two connected cards of a column: inserted there. On a card:
    behind it. Below an open end: next. Else free, beside the cards that are there.
    """
    height = card_height(spec, scene)
    if spec.max_inputs == 0:
        return _free_at(scene, point, height)
    return fed_at(scene, point, height)


def fed_at(scene: GraphScene, point: QPointF, height: float) -> Placement:
    """The place for a card of a height, which takes an input, that is dropped at a scene point."""
    edge = edge_to_split(scene, point)
    if edge is not None:
        return on_edge(scene, edge, height)
    item = scene.node_at(point)
    if item is not None:
        return behind(scene, item.node_id, height)
    above = open_end_above(scene, point)
    if above is None:
        return _free_at(scene, point, height)
    return behind(scene, above.node_id, height)


def edge_to_split(
    scene: GraphScene, point: QPointF, without: str = "", *, reach: float = _NEAR_EDGE
) -> Edge | None:
    """The edge that a layer at a point is put into: the line there, a line that passes a little
    beside it, or the nearest of those in whose gap between two cards of a column it is.

    `without` is a node that is not in the way, and whose own edges do not count.
    """
    if scene.node_at(point, without=without) is not None:
        return None
    lines = [e for e in scene.edges.values() if without not in {e.edge.source, e.edge.target}]
    costs = {line.edge: line.distance_to(point) for line in lines if line.is_near(point, reach)}
    near = min(costs, key=costs.__getitem__, default=None)
    if near is not None and costs[near] <= reach:
        return near
    gaps = [line for line in lines if _is_in_gap(scene, line, point)]
    found = min(gaps, key=lambda line: line.distance_to(point), default=None)
    return None if found is None else found.edge


def _is_in_gap(scene: GraphScene, line: EdgeItem, point: QPointF) -> bool:
    """Whether a point is between the two cards of a direct line of one column."""
    if len(line.route) != 2 or not line.route[0][1] < point.y() < line.route[1][1]:
        return False
    above, below = scene.nodes[line.edge.source].pos().x(), scene.nodes[line.edge.target].pos().x()
    return max(above, below) <= point.x() <= min(above, below) + NODE_WIDTH


def _free_at(scene: GraphScene, point: QPointF, height: float) -> Placement:
    """A card in the middle of a point, or the nearest place where it covers no other."""
    x, y = point.x() - NODE_WIDTH / 2, point.y() - height / 2
    dx, dy = placement.aside([(x, y, x + NODE_WIDTH, y + height)], cards(scene))
    return Placement((round(x + dx), round(y + dy)))


def cards(scene: GraphScene, without: Collection[str] = ()) -> list[placement.Card]:
    """All cards of the scene but some."""
    return [box.card for key, box in scene.boxes().items() if key not in without]


def on_edge(scene: GraphScene, edge: Edge, height: float) -> Placement:
    """The place on a line: below its source; the document moves what follows out of the way."""
    middle = scene.edges[edge].middle_point()
    source, target = scene.nodes[edge.source], scene.nodes[edge.target]
    is_column = abs(source.pos().x() - target.pos().x()) < NODE_WIDTH / 2
    x = target.pos().x() if is_column else middle.x() - NODE_WIDTH / 2
    y = max(source.box.bottom + GAP, middle.y() - height / 2)
    return Placement((round(x), round(y)), edge=edge)


def behind(scene: GraphScene, node_id: str, height: float) -> Placement:
    """The place behind a node: on its only outgoing line, or below it."""
    outgoing = scene.graph.edges_from(node_id)
    if len(outgoing) == 1:
        return on_edge(scene, outgoing[0], height)
    return Placement(_free_below(scene, scene.nodes[node_id], height), after=node_id)


def behind_last(scene: GraphScene) -> str | None:
    """The lowest open end: where a network grows when nothing is selected."""
    ends = [item for item in scene.nodes.values() if item.facts.is_open_below]
    return max(ends, key=lambda item: item.pos().y()).node_id if ends else None


def open_end_above(scene: GraphScene, point: QPointF) -> NodeItem | None:
    """The nearest node above a point whose output feeds nothing yet."""
    costs: dict[NodeItem, float] = {}
    for item in scene.nodes.values():
        port = item.output_point()
        down, across = point.y() - port.y(), abs(point.x() - port.x())
        if item.facts.is_open_below and 0 <= down <= _REACH_DOWN and across <= _REACH_ACROSS:
            costs[item] = down + across
    return min(costs, key=costs.__getitem__, default=None)


def _free_below(scene: GraphScene, item: NodeItem, height: float) -> Position:
    """A place under a card, or to the right of there."""
    has_others = bool(scene.graph.edges_from(item.node_id))
    x, y = item.pos().x(), item.box.bottom + (BRANCH_GAP if has_others else GAP)
    own = (x, y, x + NODE_WIDTH, y + height)
    dx, _ = placement.aside([own], cards(scene), (placement.RIGHT,))
    return round(x + dx), round(y)


# marks ---------------------------------------------------------------------------------------

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
