"""Problems on the canvas: the card of one, its place, and the marks of the layers it names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsScene

from workbench.core.checks.fixes import REMOVE
from workbench.core.checks.problems import Fix, Problem
from workbench.core.network.layout import GAP, NODE_HEIGHT
from workbench.core.network.routing import Box
from workbench.document.project_document import ProjectDocument
from workbench.gui.design.canvas.items import CanvasItem, NodeItem, Shown
from workbench.gui.design.canvas.node_facts import Attention, Mentions, NodeFacts
from workbench.gui.design.canvas.style import RADIUS, CanvasStyle, TextStyle
from workbench.gui.kit.labels import unbroken

# card place ----------------------------------------------------------------------------------
# Placement of a problem's card: beside its node, in the part of the canvas that is seen and free.
# Qt-free.

DISTANCE = 24.0
_MARGIN = 10.0
_STEP = 40.0
_STEPS = 30

Place = tuple[float, float]
Size = tuple[float, float]


@dataclass(frozen=True)
class Room:
    """What is seen of the scene, in scene pixels.

    Attributes:
        seen: The view without a margin at its edges.
        bars: What lies over it: overview, zoom buttons, search.
        zoom: Pixels of the screen for one of the scene.
    """

    seen: Box
    bars: tuple[Box, ...]
    zoom: float

    def is_free(self, box: Box) -> bool:
        """Whether a box is seen whole and covered by nothing."""
        return _is_inside(box, self.seen) and not any(box.overlaps(bar) for bar in self.bars)


def beside(node: Box, size: Size, cards: Sequence[Box]) -> Place:
    """Beside a node, whatever is seen: on the nearest place that covers no other card, and from
    which the line to the node crosses none, if there is one.
    """
    width, height = size
    top = (node.top + node.bottom) / 2 - height / 2
    nearest = None
    for x in _lefts(node, width, _STEP):
        box = _box((x, top), size)
        if _covered(box, cards):
            continue
        if not crossed(node, box, cards):
            return x, top
        nearest = x if nearest is None else nearest
    beyond = max(card.right for card in (node, *cards)) + DISTANCE
    return beyond if nearest is None else nearest, top


def within(node: Box, size: Size, cards: Sequence[Box], room: Room) -> Place:
    """Near a node, where all of the card is seen: if it can be on a place that covers no other
    card, where the line to the node crosses none, and nearest to the node.
    """
    near = [card for card in cards if card.overlaps(room.seen)]
    boxes = [_box(place, size) for place in _places(node, size, room)]
    flaws = [(not room.is_free(box), box.overlaps(node, DISTANCE - 1)) for box in boxes]
    best = min(flaws)

    # Most places are out already: how much they cover takes longest to work out.
    kept = [box for box, flaw in zip(boxes, flaws, strict=True) if flaw == best]
    covered = [sum(_common(box, card) for card in near) for box in kept]
    least = [box for box, area in zip(kept, covered, strict=True) if area == min(covered)]
    found = min(least, key=lambda box: (crossed(node, box, near), _distance(box, node)))
    return found.left, found.top


def line_between(node: Box, box: Box) -> tuple[Place, Place]:
    """The line from the edge of a node to a card's box, which it meets off its round corners."""
    across, down = (node.left + node.right) / 2, (node.top + node.bottom) / 2
    if box.left >= node.right or box.right <= node.left:
        x, end = (node.right, box.left) if box.left >= node.right else (node.left, box.right)
        return (x, down), (end, _clamped(down, box.top + RADIUS, box.bottom - RADIUS))
    y, end = (node.bottom, box.top) if box.top >= node.bottom else (node.top, box.bottom)
    return (across, y), (_clamped(across, box.left + RADIUS, box.right - RADIUS), end)


def crossed(node: Box, box: Box, cards: Sequence[Box]) -> bool:
    """Whether the line from a node to a card's box runs over another node."""
    (x, y), (end_x, end_y) = line_between(node, box)
    line = Box(min(x, end_x), min(y, end_y), max(x, end_x), max(y, end_y))
    return any(line.overlaps(card) for card in cards)


def _places(node: Box, size: Size, room: Room) -> Iterator[Place]:
    width, height = size
    seen = room.seen
    middle = (node.top + node.bottom) / 2 - height / 2
    across = (node.left + node.right) / 2 - width / 2
    edges = [edge for bar in room.bars for edge in (bar.top - height, bar.bottom)]
    tops = dict.fromkeys(
        _clamped(y, seen.top, seen.bottom - height) for y in (middle, *edges, seen.top)
    )
    lefts = [*_lefts(node, width, _STEP / min(1.0, room.zoom)), seen.left, seen.right - width]
    for x in lefts:
        yield from ((x, y) for y in tops)
    for y in (node.bottom + DISTANCE, node.top - DISTANCE - height):
        yield _clamped(across, seen.left, seen.right - width), y
        yield from ((bar.right, y) for bar in room.bars)
        yield from ((bar.left - width, y) for bar in room.bars)


def _lefts(node: Box, width: float, step: float) -> Iterator[float]:
    """Left edges to try: right beside the node, left beside it, then further away."""
    for number in range(_STEPS):
        yield node.right + DISTANCE + number * step
        if number % 3 == 0:
            yield node.left - DISTANCE - width - number * step


def _box(place: Place, size: Size) -> Box:
    return Box(place[0], place[1], place[0] + size[0], place[1] + size[1])


def _covered(box: Box, cards: Sequence[Box]) -> bool:
    return any(box.overlaps(card, _MARGIN) for card in cards)


def _common(a: Box, b: Box) -> float:
    """The area that both cover."""
    across = min(a.right, b.right) - max(a.left, b.left)
    down = min(a.bottom, b.bottom) - max(a.top, b.top)
    return max(0.0, across) * max(0.0, down)


def _distance(a: Box, b: Box) -> float:
    """How far apart two boxes are; boxes beside each other at one height before others."""
    across = max(0.0, a.left - b.right, b.left - a.right)
    down = max(0.0, a.top - b.bottom, b.top - a.bottom)
    off = abs((a.top + a.bottom) / 2 - (b.top + b.bottom) / 2)
    return across + 2 * down + off / 1000


def _is_inside(box: Box, outer: Box) -> bool:
    return (
        box.left >= outer.left
        and box.right <= outer.right
        and box.top >= outer.top
        and box.bottom <= outer.bottom
    )


def _clamped(value: float, low: float, high: float) -> float:
    return max(low, min(value, high))


# problem card --------------------------------------------------------------------------------
# A card beside a node: what is wrong, why, and buttons that fix it.

CARD_WIDTH = 304.0
_PADDING = 12.0
_BUTTON_HEIGHT = 28.0
_BUTTON_PAD = 11.0
_BUTTON_GAP = 6.0
_CLOSE = 20.0
"""Side of the close button, in the upper right corner."""
_READABLE = 0.8
"""Below this zoom the card no longer shrinks with the canvas."""
_CENTERED = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignCenter)
_WRAP = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)


class ProblemCard(CanvasItem):
    """Title, reason and fix buttons of one problem, painted as plain text.

    Attributes:
        is_line_crossing: Its line runs over another node, which it may seem to be about.
    """

    LEVEL = 4.0
    _hovered = Shown[int | None](None)
    _is_close_hovered = Shown(False)

    def __init__(self, problem: Problem, fixes: Sequence[Fix], look: CanvasStyle) -> None:
        super().__init__(look)
        self.problem = problem
        self.fixes = tuple(fixes)
        self.is_line_crossing = False
        self._message = unbroken(problem.message)
        self._anchor = self._end = QPointF()
        self._texts = self._lay_out_texts()
        self._buttons = self._lay_out_buttons(self._texts[1].bottom() + 10)
        low = self._buttons[-1].bottom() if self._buttons else self._texts[1].bottom()
        self.size = QRectF(0, 0, CARD_WIDTH, low + _PADDING)

    def _lay_out_texts(self) -> tuple[QRectF, QRectF]:
        width = CARD_WIDTH - 2 * _PADDING
        room = QRectF(0, 0, width, 4000)
        narrow = QRectF(0, 0, width - _CLOSE, 4000)
        title = self._look.title_ink.metrics.boundingRect(narrow, _WRAP, self.problem.title)
        body = self._look.body_ink.metrics.boundingRect(room, _WRAP, self._message)
        title_place = QRectF(_PADDING, _PADDING - 2, narrow.width(), title.height() + 1)
        body_place = QRectF(_PADDING, title_place.bottom() + 4, width, body.height() + 1)
        return title_place, body_place

    def _lay_out_buttons(self, top: float) -> list[QRectF]:
        """Places as many buttons in a row as there is room for; words that are too long for a row
        are wrapped.
        """
        places: list[QRectF] = []
        x, widest = _PADDING, CARD_WIDTH - 2 * _PADDING
        for fix in self.fixes:
            room = QRectF(0, 0, widest - 2 * _BUTTON_PAD, 4000)
            words = self._look.button_ink.metrics.boundingRect(room, _CENTERED, fix.title)
            width = min(words.width() + 1 + 2 * _BUTTON_PAD, widest)
            height = max(_BUTTON_HEIGHT, words.height() + _BUTTON_PAD)
            if places and x + width > CARD_WIDTH - _PADDING:
                x, top = _PADDING, max(place.bottom() for place in places) + _BUTTON_GAP
            places.append(QRectF(x, top, width, height))
            x += width + _BUTTON_GAP
        return places

    def place(self, node: Box, cards: Sequence[Box], room: Room | None) -> None:
        """Moves beside `node`: to where all of the card is seen while the node is, in `room`;
        None means anywhere.
        """
        self.setScale(_scale_in(room))
        size = self.size.width() * self.scale(), self.size.height() * self.scale()
        others = [box for box in cards if box != node]
        is_seen = room is not None and node.overlaps(room.seen)
        if room is not None and is_seen:
            x, y = within(node, size, others, room)
        else:
            x, y = beside(node, size, others)
        self.prepareGeometryChange()
        self.setPos(round(x), round(y))
        self._lay_out_line(node, others)

    def is_well_placed(self, node: Box, room: Room | None) -> bool:
        """Whether it can stay: all of it and of its node is seen, or its node is not."""
        if room is None or not node.overlaps(room.seen):
            return True
        place = self.mapRectToScene(self.size)
        box = Box(place.left(), place.top(), place.right(), place.bottom())
        is_clear = room.is_free(box) and not box.overlaps(node)
        return self.scale() == _scale_in(room) and is_clear

    def _lay_out_line(self, node: Box, others: Sequence[Box]) -> None:
        """Lays out the line from the edge of the node to the card."""
        place = self.mapRectToScene(self.size)
        box = Box(place.left(), place.top(), place.right(), place.bottom())
        start, end = line_between(node, box)
        self._anchor, self._end = (self.mapFromScene(QPointF(*each)) for each in (start, end))
        self.is_line_crossing = crossed(node, box, others)

    def covers(self, scene_point: QPointF) -> bool:
        """Whether a scene point is on the card, without its line."""
        return self.size.contains(self.mapFromScene(scene_point))

    def button_places(self) -> list[QRectF]:
        """Rectangles of the buttons of the fixes, relative to the card's corner."""
        return list(self._buttons)

    def close_place(self) -> QRectF:
        """Rectangle of the close button, relative to the card's corner."""
        return QRectF(CARD_WIDTH - _CLOSE - 6, 6, _CLOSE, _CLOSE)

    def is_close_at(self, scene_point: QPointF) -> bool:
        """Whether the close button is under a point."""
        return self.close_place().contains(self.mapFromScene(scene_point))

    def fix_at(self, scene_point: QPointF) -> Fix | None:
        """The fix whose button is under a point."""
        index = self._button_at(scene_point)
        return None if index is None else self.fixes[index]

    def hover(self, scene_point: QPointF) -> bool:
        """Lights the button under the pointer; True when there is one."""
        self._hovered = self._button_at(scene_point)
        self._is_close_hovered = self.is_close_at(scene_point)
        return self._hovered is not None or self._is_close_hovered

    def _button_at(self, scene_point: QPointF) -> int | None:
        point = self.mapFromScene(scene_point)
        return next((i for i, b in enumerate(self._buttons) if b.contains(point)), None)

    def boundingRect(self) -> QRectF:
        line = QRectF(self._anchor, self._end).normalized().adjusted(-1, -1, 1, 1)
        return self.size.united(line).adjusted(-4, -4, 4, 4)

    def draw(self, painter: QPainter) -> None:
        look = self._look
        pen = look.bad_pen if self.problem.severity == "error" else look.warning_pen
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        painter.drawLine(self._anchor, self._end)
        painter.setBrush(look.panel)
        painter.drawRoundedRect(self.size, RADIUS, RADIUS)
        title, body = self._texts
        title_ink = TextStyle(look.title_ink.font, pen.color())
        title_ink.draw(painter, title, self.problem.title, _WRAP)
        look.body_ink.draw(painter, body, self._message, _WRAP)
        self._paint_close(painter)
        for index in range(len(self._buttons)):
            self._paint_button(painter, index)

    def _paint_close(self, painter: QPainter) -> None:
        look, place = self._look, self.close_place()
        if self._is_close_hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.hover)
            painter.drawRoundedRect(place, 4, 4)
        painter.setPen(look.chevron_pen)
        cross = place.adjusted(6, 6, -6, -6)
        painter.drawLine(cross.topLeft(), cross.bottomRight())
        painter.drawLine(cross.topRight(), cross.bottomLeft())

    def is_primary(self, index: int) -> bool:
        """Whether the button of a fix is filled."""
        return index == 0 and self.fixes[0].key != REMOVE

    def _paint_button(self, painter: QPainter, index: int) -> None:
        """The first fix is the best one: it is filled, unless it takes layers away."""
        look, place = self._look, self._buttons[index]
        is_primary, is_hovered = self.is_primary(index), index == self._hovered
        fill = look.accent if is_primary else look.panel
        if is_hovered:
            fill = fill.lighter(112) if is_primary else look.hover
        painter.setPen(Qt.PenStyle.NoPen if is_primary else look.border_pen)
        painter.setBrush(fill)
        painter.drawRoundedRect(place, 6, 6)
        ink = look.primary_ink if is_primary else look.button_ink
        inner = place.adjusted(_BUTTON_PAD - 1, 0, 1 - _BUTTON_PAD, 0)
        ink.draw(painter, inner, self.fixes[index].title, _CENTERED)


def _scale_in(room: Room | None) -> float:
    return 1.0 if room is None else max(1.0, _READABLE / room.zoom)


# problem scene -------------------------------------------------------------------------------
# The part of the scene that shows problems: the card of one, and the names that they use.


class ProblemScene(QGraphicsScene):
    """Nodes with the card of one problem.

    Attributes:
        nodes: The cards by node id, in the graph's order.
        card: That of the problem shown.
        find_room: What is seen of the scene; None while nothing is.
        mentions: The layers that the problems name.
        content: What everything covers, None while it is to be worked out.
    """

    def __init__(self, document: ProjectDocument, look: CanvasStyle) -> None:
        super().__init__()
        self.document = document
        self.look = look
        self.nodes: dict[str, NodeItem] = {}
        self.card: ProblemCard | None = None
        self.find_room: Callable[[], Room | None] = lambda: None
        self.mentions = Mentions()
        self.content: QRectF | None = None
        self.attention = Attention()
        self._is_card_held = False
        self._looked_at: Problem | None = None

    def facts_of(self, node_id: str) -> NodeFacts:
        """What the card of a node shows."""
        raise NotImplementedError

    def boxes(self) -> dict[str, Box]:
        """The place of every card."""
        return {key: item.box for key, item in self.nodes.items()}

    def selected_ids(self) -> list[str]:
        """Ids of the selected nodes, in the graph's order."""
        return [key for key, item in self.nodes.items() if item.isSelected()]

    def shown_problem(self) -> Problem | None:
        """The problem that has a card now; None for no problem of a node."""
        shown, selected = self.document.shown, self.selected_ids()
        return self.attention.problem_to_show(self.document.analysis, shown, self.nodes, selected)

    def open_card(self, problem: Problem) -> None:
        """Shows the card of a problem, which was asked for."""
        self.attention.open(problem)
        self.settle_card()

    def close_card(self) -> None:
        """Takes the card away, until one is asked for or another problem comes."""
        self.attention.close(self.document.analysis.problems)
        self.settle_card()

    def hold_card(self, *, is_held: bool) -> None:
        """Hides the card while something is dragged: it may lie where that is to be dropped."""
        self._is_card_held = is_held
        if self.card is not None:
            self.card.setVisible(not is_held)

    def card_of(self, problem: Problem) -> str:
        """The card that a problem is shown at: that of its layer, or of the layer's group."""
        return self.document.shown.shown_id(problem.node or "")

    def settle_card(self, *, anywhere: bool = False) -> None:
        """Puts the problem card where it is seen, or `anywhere` beside its node."""
        self.refresh_card(anywhere=anywhere)
        self.content = None

    def keep_card_seen(self) -> None:
        """Another part is seen: the card stays within it as long as its node does."""
        card = self.card
        if card is None or self.card_of(card.problem) not in self.nodes:
            return
        box = self.nodes[self.card_of(card.problem)].box
        if not card.is_well_placed(box, self.find_room()):
            self.settle_card()

    def refresh_card(self, *, anywhere: bool = False) -> None:
        """Shows the card of the problem that is to be shown now, as soon as its fixes are known:
        it must not grow under the pointer.
        """
        problem = self.shown_problem()
        has_node = problem is not None and problem.node is not None
        fixes = self.document.fixes.fixes_of(problem) if problem and has_node else None
        if self.card is not None and (self.card.problem, self.card.fixes) != (problem, fixes):
            self.remove_card()
        if self.card is None and problem is not None and fixes is not None:
            self.card = ProblemCard(problem, fixes, self.look)
            self.card.setVisible(not self._is_card_held)
            self.addItem(self.card)
        elif self.card is not None and problem is not None:
            self.card.problem, self.card.fixes = problem, fixes or ()  # they read the same
        self._show_names()
        if self.card is not None:
            boxes = self.boxes()
            room = None if anywhere else self.find_room()
            own = boxes[self.card_of(self.card.problem)]
            self.card.place(own, [*boxes.values(), *self._drop_places()], room)
            self._mark()

    def _drop_places(self) -> list[Box]:
        """Areas where the next layers go: below the open ends."""
        ends = (item.box for item in self.nodes.values() if item.facts.is_open_below)
        below = NODE_HEIGHT + 2 * GAP
        return [Box(e.left, e.bottom, e.right, e.bottom + below) for e in ends]

    def look_at(self, problem: Problem | None) -> None:
        """Marks the layers that a problem names; None: that of the selected layer."""
        if problem is not self._looked_at:
            self._looked_at = problem
            self._show_names()

    def _show_names(self) -> None:
        """Cards show their names where a problem or a button of the card names them."""
        graph, card = self.document.graph, self.card.problem if self.card else None
        is_selected = card is not None and self.selected_ids() == [self.card_of(card)]
        looked_at = self._looked_at or (card if is_selected else None)
        found = self.document.analysis.problems
        shown = map(self._text_of, (card, self._looked_at))
        self.mentions = Mentions.of(graph, found, shown, self._text_of(looked_at))
        self._mark()
        for key, item in self.nodes.items():
            is_there = key in graph.nodes  # a card; or removed, and taken away a moment later
            if is_there and item.facts.is_named != (key in self.mentions.named):
                item.facts = self.facts_of(key)

    def _mark(self) -> None:
        """Marks the layers that the problem looked at names, and that of a card whose line leads
        over another layer.
        """
        card = self.card
        meant = self.card_of(card.problem) if card is not None and card.is_line_crossing else None
        marked = self.document.shown.shown_ids(self.mentions.marked)
        for key, item in self.nodes.items():
            item.is_marked = key in marked or key == meant

    def _text_of(self, problem: Problem | None) -> str:
        """The words of a problem, with those of its buttons on the screen."""
        if problem is None:
            return ""
        is_card = self.card is not None and self.card.problem == problem
        fixes = self.card.fixes if self.card is not None and is_card else problem.known_fixes
        return problem.text_with(fixes or ())

    def card_at(self, point: QPointF) -> ProblemCard | None:
        """The problem card, if it is under a scene point."""
        card = self.card
        return card if card is not None and card.isVisible() and card.covers(point) else None

    def remove_card(self) -> None:
        """Takes the problem card away."""
        if self.card is not None:
            self.removeItem(self.card)
            self.card = None
