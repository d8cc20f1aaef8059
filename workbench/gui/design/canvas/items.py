"""Items of the canvas: their base, the card of a layer, and the line of an edge."""

from __future__ import annotations

import math
from itertools import repeat
from typing import Generic, TypeVar

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPainterPathStroker, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from workbench.core.network.graph import Edge, Training
from workbench.core.network.layout import NODE_HEIGHT, NODE_WIDTH, SHORT_NODE_HEIGHT
from workbench.core.network.routing import Box, Route
from workbench.gui.design.canvas.node_facts import NodeFacts
from workbench.gui.design.canvas.style import (
    CENTER,
    DETAIL_FROM,
    KIND_FROM,
    PADDING,
    PORT_RADIUS,
    RADIUS,
    RIGHT,
    STRIP_WIDTH,
    CanvasStyle,
    rounded_path,
)

# item ----------------------------------------------------------------------------------------
# What all items of the canvas share.

T = TypeVar("T")


class CanvasItem(QGraphicsItem):
    """An item with the canvas's look, and a plain `draw`.

    Attributes:
        LEVEL: Items of a higher level lie above those of a lower one.
    """

    LEVEL = 0.0

    def __init__(self, look: CanvasStyle) -> None:
        super().__init__()
        self._look = look
        self.setZValue(self.LEVEL)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draws the item in its own coordinates."""
        raise NotImplementedError


class Shown(Generic[T]):
    """An attribute of an item that is seen: setting another value repaints the item.

    Args:
        start: Its value at first.
        reshapes: Whether the item's bounds depend on it.
    """

    def __init__(self, start: T, *, reshapes: bool = False) -> None:
        self._start = start
        self._reshapes = reshapes

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, item: CanvasItem, _owner: type | None = None) -> T:
        value: T = vars(item).get(self._name, self._start)
        return value

    def __set__(self, item: CanvasItem, value: T) -> None:
        if value == self.__get__(item):
            return
        if self._reshapes:
            item.prepareGeometryChange()
        vars(item)[self._name] = value
        item.update()


def scale_of(painter: QPainter) -> float:
    """Pixels on the screen for one of the scene."""
    return QStyleOptionGraphicsItem.levelOfDetailFromTransform(painter.worldTransform())


# node item -----------------------------------------------------------------------------------
# One node as a card. It draws what it is given and never writes to the graph.

_MARGIN = 12.0
_FAR_MARGIN, _FAR_PADDING = 34.0, 6.0
_FAR_MARK_PX = 5.0
"""Radius on the screen of the mark of a problem, seen from far away."""
_BADGE = 16.0
_SHAPE_AWAY = 12.0
_DATA_PX = 132.0
"""Widest name of the data set on the card of Input."""
_SHAPE_TOP = 9.0
_SHAPE_HEIGHT = 18.0


class NodeItem(CanvasItem):
    """A card with its category strip, title, parameter count, settings and output shape.

    Attributes:
        facts: What it shows.
        is_hovered: The pointer is over the card: its ports are shown.
        is_target: It is a valid end of the connection being dragged.
        is_marked: A problem that is looked at names it.
        is_framed: It is within the frame of an open group.
        is_shape_left: The output shape is left of the edge, where no line runs.
    """

    LEVEL = 1.0
    facts = Shown(NodeFacts("", ""), reshapes=True)
    is_hovered = Shown(False)
    is_target = Shown(False)
    is_marked = Shown(False)
    is_framed = Shown(False)
    is_shape_left = Shown(False)

    def __init__(self, node_id: str, facts: NodeFacts, look: CanvasStyle) -> None:
        super().__init__(look)
        self.node_id = node_id
        self._margin = _MARGIN
        self._is_drawn = False
        self.facts = facts
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)

    @property
    def height(self) -> float:
        """Height of the card in scene pixels."""
        return NODE_HEIGHT if self.facts.words else SHORT_NODE_HEIGHT

    @property
    def box(self) -> Box:
        """The card's place in the scene."""
        x, y = self.pos().toTuple()
        return Box(x, y, x + NODE_WIDTH, y + self.height)

    def card_rect(self) -> QRectF:
        """The card in scene pixels."""
        return QRectF(self.pos().x(), self.pos().y(), NODE_WIDTH, self.height)

    def output_point(self) -> QPointF:
        """Scene point where edges leave."""
        return self.pos() + QPointF(NODE_WIDTH / 2, self.height)

    def input_point(self) -> QPointF:
        """Scene point where edges arrive."""
        return self.pos() + QPointF(NODE_WIDTH / 2, 0)

    def shape_place(self, *, is_left: bool) -> QRectF:
        """Rectangle of the output shape, on one side of the edge, relative to the card's corner."""
        width = self._look.shape_ink.metrics.horizontalAdvance(self.facts.shape) + 1
        away = -_SHAPE_AWAY - width if is_left else _SHAPE_AWAY
        return QRectF(NODE_WIDTH / 2 + away, self.height + _SHAPE_TOP, width, _SHAPE_HEIGHT)

    def data_place(self) -> QRectF:
        """Rectangle of the data set's name, relative to the card's corner; empty without one."""
        if not self.facts.data:
            return QRectF()
        ink = self._look.link_ink
        name = ink.elided_name(self.facts.data, _DATA_PX)
        width = ink.metrics.horizontalAdvance(name) + 1
        return QRectF(NODE_WIDTH - PADDING + 4 - width, 8, width, 20)

    def set_detailed(self, is_detailed: bool) -> None:  # noqa: FBT001 - a setter as Qt's are
        """Caching pays only where texts are drawn."""
        self.prepareGeometryChange()
        self._margin = _MARGIN if is_detailed else _FAR_MARGIN
        mode = QGraphicsItem.CacheMode
        self.setCacheMode(mode.DeviceCoordinateCache if is_detailed else mode.NoCache)

    def set_drawn(self, *, is_drawn: bool) -> None:
        """Sets whether the item is drawn into a file: in full detail at any scale, without dots of
        open ends.
        """
        self.set_detailed(is_drawn)
        self.setCacheMode(QGraphicsItem.CacheMode.NoCache)
        self._is_drawn = is_drawn
        self.is_hovered = False

    def boundingRect(self) -> QRectF:
        margin = self._margin
        return QRectF(
            -margin, -margin, NODE_WIDTH + 2 * margin, self.height + margin + 2 * _SHAPE_HEIGHT
        )

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(QRectF(0, 0, NODE_WIDTH, self.height))
        return path

    def draw(self, painter: QPainter) -> None:
        scale = scale_of(painter)
        if scale < DETAIL_FROM and not self._is_drawn:
            self._paint_far(painter, scale)
            return
        self._paint_card(painter)
        self._paint_title(painter)
        self._paint_words(painter)
        self._paint_shape(painter)
        if self._is_drawn:
            return
        self._paint_ports(painter)
        if self.facts.severity not in {"", "hint"}:
            self._paint_badge(painter)

    def _paint_far(self, painter: QPainter, scale: float) -> None:
        """Paints the card as seen from far away: its colors, its type, and a mark where it has a
        problem.
        """
        look, rect = self._look, QRectF(0, 0, NODE_WIDTH, self.height)
        is_bad = self.facts.severity == "error"
        painter.fillRect(rect, look.bad_soft if is_bad else look.panel)
        strip = look.bad if is_bad else look.category_color(self.facts.category)
        width = max(STRIP_WIDTH * 2, 3 / scale)
        painter.fillRect(QRectF(0, 0, width, self.height), strip)
        look.draw_trainings(painter, NODE_WIDTH, self.height, self._trainings(), 3 / scale)
        if scale >= KIND_FROM:
            room = NODE_WIDTH - width - 2 * _FAR_PADDING
            place = QRectF(width + _FAR_PADDING, 0, room, self.height)
            look.draw_far(painter, place, self.facts.title, scale)
        if self.is_marked or self.isSelected() or self.is_target:
            painter.setPen(self._outline_pen(is_far=True))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect)
        if self.facts.severity not in {"", "hint"}:
            radius = min(_FAR_MARGIN, _FAR_MARK_PX / scale)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.bad if is_bad else look.warning)
            painter.drawEllipse(QPointF(NODE_WIDTH, 0), radius, radius)

    def _trainings(self) -> tuple[Training, ...]:
        """When each layer behind the card learns."""
        return (self.facts.training,)

    def _paint_card(self, painter: QPainter) -> None:
        look = self._look
        card, _ = look.card_paths(self.height)
        is_bad = self.facts.severity == "error"
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.bad_pen if is_bad else look.border_pen)
        if not self.facts.is_known:
            painter.setPen(look.placeholder_pen)
        fill = look.accent_soft if self.is_target else look.panel
        painter.setBrush(look.bad_soft if is_bad else fill)
        painter.drawPath(card)
        if self.facts.is_known:
            self._paint_strips(painter)
        if self.is_marked or self.isSelected() or self.is_target:
            painter.setPen(self._outline_pen())
            painter.setBrush(Qt.BrushStyle.NoBrush)
            outline = QRectF(0, 0, NODE_WIDTH, self.height).adjusted(-3, -3, 3, 3)
            painter.drawRoundedRect(outline, RADIUS + 3, RADIUS + 3)

    def _paint_strips(self, painter: QPainter) -> None:
        """Paints strips: the category at the left side, and at the right when the layer learns."""
        look = self._look
        _, strip = look.card_paths(self.height)
        painter.fillPath(strip, look.category_color(self.facts.category))
        look.draw_trainings(painter, NODE_WIDTH, self.height, (self.facts.training,))

    def _outline_pen(self, *, is_far: bool = False) -> QPen:
        look = self._look
        if self.is_marked and not (self.isSelected() or self.is_target):
            return look.far_marked_pen if is_far else look.marked_pen
        return look.far_selected_pen if is_far else look.selected_pen

    def _paint_title(self, painter: QPainter) -> None:
        look, facts = self._look, self.facts
        top = 8.0 if facts.words else (self.height - 20) / 2
        right = NODE_WIDTH - PADDING + 4
        if facts.training != "always":
            look.draw_training_mark(painter, QPointF(right - 6, top + 10), facts.training)
            right -= 20
        if facts.data:
            place = self.data_place()
            look.link_ink.draw(painter, place, look.link_ink.elided_name(facts.data, _DATA_PX))
            right = place.left() - 10
        if facts.count:
            width = look.count_ink.metrics.horizontalAdvance(facts.count)
            place = QRectF(right - width - 1, top, width + 1, 20)
            look.count_ink.draw(painter, place, facts.count, RIGHT)
            right -= width + 10
        title = look.title_ink.elided(facts.title, right - PADDING)
        place = QRectF(PADDING, top, right - PADDING, 20)
        look.title_ink.draw(painter, place, title)
        left = PADDING + look.title_ink.metrics.horizontalAdvance(title) + 8
        if facts.shown_name and right - left > 32:
            name = look.words_ink.elided_name(facts.shown_name, right - left)
            place = QRectF(left, top, right - left, 20)
            look.words_ink.draw(painter, place, name)

    def _paint_words(self, painter: QPainter) -> None:
        look, width = self._look, NODE_WIDTH - 2 * PADDING + 4
        if self.facts.words:
            words = look.words_ink.elided(self.facts.words, width)
            place = QRectF(PADDING, 26, width, 18)
            look.words_ink.draw(painter, place, words)

    def _paint_shape(self, painter: QPainter) -> None:
        if not self.facts.shape:
            return
        place = self.shape_place(is_left=self.is_shape_left)
        ground = self._look.frame_fill if self.is_framed else self._look.canvas
        painter.fillRect(place.adjusted(-3, 1, 3, -1), ground)
        self._look.shape_ink.draw(painter, place, self.facts.shape)

    def _paint_ports(self, painter: QPainter) -> None:
        """Dots where an edge can start or is still missing."""
        is_shown = self.is_hovered or self.isSelected()
        painter.setPen(self._look.selected_pen if is_shown else self._look.edge_pen)
        painter.setBrush(self._look.panel)
        if is_shown or self.facts.is_open_below:
            painter.drawEllipse(QPointF(NODE_WIDTH / 2, self.height), PORT_RADIUS, PORT_RADIUS)
        if self.facts.is_open_above:
            painter.drawEllipse(QPointF(NODE_WIDTH / 2, 0), PORT_RADIUS, PORT_RADIUS)

    def _paint_badge(self, painter: QPainter) -> None:
        """Paints a mark at the corner: how many problems, or "!"."""
        look = self._look
        color = look.bad if self.facts.severity == "error" else look.warning
        place = QRectF(NODE_WIDTH - _BADGE / 2 - 2, -_BADGE / 2 + 1, _BADGE, _BADGE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(place)
        count = len(self.facts.problems)
        sign = str(count) if 1 < count < 10 else "!"
        look.badge_ink.draw(painter, place, sign, CENTER)


# edge item -----------------------------------------------------------------------------------
# One edge as a line from a card's lower side to another's upper side.

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
