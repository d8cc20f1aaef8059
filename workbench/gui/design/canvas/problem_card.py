"""A card beside a node: what is wrong, why, and buttons that fix it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from workbench.core.checks.fixes import REMOVE
from workbench.core.checks.problems import Fix, Problem
from workbench.core.network.routing import Box
from workbench.gui.design.canvas.card_place import Room, beside, crossed, line_between, within
from workbench.gui.design.canvas.item import CanvasItem, Shown
from workbench.gui.design.canvas.style import RADIUS, CanvasStyle, TextStyle
from workbench.gui.kit.labels import unbroken

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
