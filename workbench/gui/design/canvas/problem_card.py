"""A card beside a node: what is wrong, why, and buttons that fix it."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter

from workbench.core.checks.problems import Fix, Problem
from workbench.gui.design.canvas.item import CanvasItem, Shown
from workbench.gui.design.canvas.routing import Box
from workbench.gui.design.canvas.style import CENTER, RADIUS, CanvasStyle, TextStyle
from workbench.gui.kit.labels import unbroken

CARD_WIDTH = 304.0
DISTANCE = 24.0
_PADDING = 12.0
_MARGIN = 10.0
_BUTTON_HEIGHT = 28.0
_BUTTON_GAP = 6.0
_STEP = 40.0
_WRAP = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)


class ProblemCard(CanvasItem):
    """Title, reason and fix buttons of one problem, painted as plain text."""

    LEVEL = 4.0
    _hovered = Shown[int | None](None)

    def __init__(self, problem: Problem, look: CanvasStyle) -> None:
        super().__init__(look)
        self.problem = problem
        self._message = unbroken(problem.message)
        self._anchor = QPointF()
        self._texts = self._lay_out_texts()
        self._buttons = self._lay_out_buttons(self._texts[1].bottom() + 10)
        low = self._buttons[-1].bottom() if self._buttons else self._texts[1].bottom()
        self.size = QRectF(0, 0, CARD_WIDTH, low + _PADDING)

    def _lay_out_texts(self) -> tuple[QRectF, QRectF]:
        width = CARD_WIDTH - 2 * _PADDING
        room = QRectF(0, 0, width, 4000)
        title = self._look.title_ink.metrics.boundingRect(room, _WRAP, self.problem.title)
        body = self._look.body_ink.metrics.boundingRect(room, _WRAP, self._message)
        title_place = QRectF(_PADDING, _PADDING - 2, width, title.height() + 1)
        body_place = QRectF(_PADDING, title_place.bottom() + 4, width, body.height() + 1)
        return title_place, body_place

    def _lay_out_buttons(self, top: float) -> list[QRectF]:
        places: list[QRectF] = []
        x = _PADDING
        for fix in self.problem.fixes:
            words = self._look.button_ink.metrics.horizontalAdvance(fix.title)
            width = min(words + 22, CARD_WIDTH - 2 * _PADDING)
            if places and x + width > CARD_WIDTH - _PADDING:
                x, top = _PADDING, top + _BUTTON_HEIGHT + _BUTTON_GAP
            places.append(QRectF(x, top, width, _BUTTON_HEIGHT))
            x += width + _BUTTON_GAP
        return places

    def place(self, node: Box, cards: Iterable[Box], room: QRectF | None = None) -> None:
        """Moves beside `node` where it covers none of the other cards, on the side that
        `room` has space for; None means what is seen now.
        """
        room = self._seen_rect() if room is None else room
        top = (node.top + node.bottom) / 2 - self.size.height() / 2
        others = [box for box in cards if box != node]
        bottom = top + self.size.height()
        places = (Box(x, top, x + CARD_WIDTH, bottom) for x in _candidates(node))
        free = [p.left for p in places if not any(p.overlaps(box, _MARGIN) for box in others)]
        free = free or [max(box.right for box in (node, *others)) + DISTANCE]
        is_seen = (x for x in free if room.left() <= x and x + CARD_WIDTH <= room.right())
        found = next(is_seen, free[0])
        edge_x = node.right if found > node.left else node.left
        self.prepareGeometryChange()
        self.setPos(round(found), round(top))
        self._anchor = QPointF(edge_x, (node.top + node.bottom) / 2) - self.pos()

    def _seen_rect(self) -> QRectF:
        """The part of the scene that its view shows."""
        view = next(iter(self.scene().views()), None)
        if view is None:
            return QRectF()
        return view.mapToScene(view.viewport().rect()).boundingRect()

    def fix_at(self, scene_point: QPointF) -> Fix | None:
        """The fix whose button is under a point."""
        index = self._button_at(scene_point)
        return None if index is None else self.problem.fixes[index]

    def hover(self, scene_point: QPointF) -> bool:
        """Lights the button under the pointer; True when there is one."""
        self._hovered = self._button_at(scene_point)
        return self._hovered is not None

    def _button_at(self, scene_point: QPointF) -> int | None:
        point = scene_point - self.pos()
        return next((i for i, b in enumerate(self._buttons) if b.contains(point)), None)

    def boundingRect(self) -> QRectF:
        left = min(0.0, self._anchor.x())
        right = max(self.size.right(), self._anchor.x())
        return QRectF(left, 0, right - left, self.size.bottom()).adjusted(-4, -4, 4, 4)

    def draw(self, painter: QPainter) -> None:
        look = self._look
        pen = look.bad_pen if self.problem.severity == "error" else look.warning_pen
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        side = 0.0 if self._anchor.x() < 0 else self.size.width()
        painter.drawLine(self._anchor, QPointF(side, self._anchor.y()))
        painter.setBrush(look.panel)
        painter.drawRoundedRect(self.size, RADIUS, RADIUS)
        title, body = self._texts
        title_ink = TextStyle(look.title_ink.font, pen.color())
        title_ink.draw(painter, title, self.problem.title, _WRAP)
        look.body_ink.draw(painter, body, self._message, _WRAP)
        for index in range(len(self._buttons)):
            self._paint_button(painter, index)

    def _paint_button(self, painter: QPainter, index: int) -> None:
        """The first fix is the best one: it is filled."""
        look, place = self._look, self._buttons[index]
        is_primary, is_hovered = index == 0, index == self._hovered
        fill = look.accent if is_primary else look.panel
        if is_hovered:
            fill = fill.lighter(112) if is_primary else look.hover
        painter.setPen(Qt.PenStyle.NoPen if is_primary else look.border_pen)
        painter.setBrush(fill)
        painter.drawRoundedRect(place, 6, 6)
        ink = look.primary_ink if is_primary else look.button_ink
        words = ink.elided(self.problem.fixes[index].title, place.width() - 12)
        ink.draw(painter, place, words, CENTER)


def _candidates(node: Box) -> Iterable[float]:
    """Left edges to try: right beside the node, left beside it, then further away."""
    for step in range(30):
        yield node.right + DISTANCE + step * _STEP
        if step % 3 == 0:
            yield node.left - DISTANCE - CARD_WIDTH - step * _STEP
