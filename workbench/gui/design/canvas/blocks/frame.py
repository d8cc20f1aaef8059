"""The frame around the layers of an open group: its ground below the cards, its title above the
lines.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem

from workbench.core.network.blocks import TITLE_HEIGHT
from workbench.gui.design.canvas.blocks.card import BUTTON
from workbench.gui.design.canvas.blocks.facts import GroupFacts
from workbench.gui.design.canvas.item import CanvasItem, Shown, scale_of
from workbench.gui.design.canvas.style import DETAIL_FROM, RADIUS, CanvasStyle

_PADDING = 12.0
_GAP = 12.0
_LEAST_WORDS = 60.0
_TITLE_LEVEL = 0.5


class FrameItem(CanvasItem):
    """The ground and the border of an open group; its title is an item above the lines.

    Attributes:
        name: The group's.
        area: Where it is in the scene.
        is_selected: All of its layers are selected.
    """

    LEVEL = -1.0
    area = Shown(QRectF(), reshapes=True)
    is_selected = Shown(False)

    def __init__(self, name: str, look: CanvasStyle) -> None:
        super().__init__(look)
        self.name = name
        self.title = TitleItem(self, look)

    def title_rect(self) -> QRectF:
        """The title bar in the scene."""
        return QRectF(self.area.left(), self.area.top(), self.area.width(), TITLE_HEIGHT)

    def button_rect(self) -> QRectF:
        """The button that folds the group, in the scene."""
        bar, inset = self.title_rect(), (TITLE_HEIGHT - BUTTON) / 2
        return QRectF(bar.right() - BUTTON - inset, bar.top() + inset, BUTTON, BUTTON)

    def show_facts(self, facts: GroupFacts, area: QRectF, *, is_selected: bool) -> None:
        """Shows these numbers there."""
        self.area = area
        self.is_selected = is_selected
        self.title.show_on(facts, self.title_rect(), is_selected=is_selected)

    def boundingRect(self) -> QRectF:
        return self.area.adjusted(-3, -3, 3, 3)

    def draw(self, painter: QPainter) -> None:
        look, is_far = self._look, scale_of(painter) < DETAIL_FROM
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.frame_pen)
        if self.is_selected:
            painter.setPen(look.far_selected_pen if is_far else look.selected_pen)
        painter.setBrush(look.frame_fill)
        painter.drawRoundedRect(self.area, RADIUS + 4, RADIUS + 4)


class TitleItem(CanvasItem):
    """The title bar of a frame: name, layers, parameters, and the button that folds it."""

    LEVEL = _TITLE_LEVEL
    facts = Shown(GroupFacts("", ""))
    bar = Shown(QRectF(), reshapes=True)
    is_selected = Shown(False)

    def __init__(self, frame: FrameItem, look: CanvasStyle) -> None:
        super().__init__(look)
        self._frame = frame
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable, enabled=False)

    def show_on(self, facts: GroupFacts, bar: QRectF, *, is_selected: bool) -> None:
        """Shows these numbers on this bar."""
        self.facts, self.bar, self.is_selected = facts, bar, is_selected

    def boundingRect(self) -> QRectF:
        return self.bar.adjusted(-2, -2, 2, 2)

    def draw(self, painter: QPainter) -> None:
        look, bar = self._look, self.bar
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.accent_soft if self.is_selected else look.frame_bar)
        painter.drawPath(_rounded_above(bar))
        painter.setPen(QPen(look.frame_pen.color(), 1))
        painter.drawLine(bar.bottomLeft(), bar.bottomRight())
        if scale_of(painter) < DETAIL_FROM:
            look.draw_far(painter, bar.adjusted(6, 0, -6, 0), self.facts.name, scale_of(painter))
            return
        self._draw_words(painter)
        look.draw_chevron(painter, self._frame.button_rect().center(), is_down=False)

    def _draw_words(self, painter: QPainter) -> None:
        look, bar = self._look, self.bar
        right = self._frame.button_rect().left() - _GAP / 2
        left = bar.left() + _PADDING
        name = look.title_ink.elided_name(self.facts.name, right - left)
        look.title_ink.draw(painter, QRectF(left, bar.top(), right - left, bar.height()), name)
        left += look.title_ink.metrics.horizontalAdvance(name) + _GAP
        if right - left > _LEAST_WORDS:
            place = QRectF(left, bar.top(), right - left, bar.height())
            look.draw_words(painter, place, self.facts.parts)


def _rounded_above(bar: QRectF) -> QPainterPath:
    """A bar whose upper corners are round."""
    radius = RADIUS + 3
    path = QPainterPath()
    path.addRoundedRect(bar.adjusted(0.5, 0.5, -0.5, 2 * radius), radius, radius)
    lower = QPainterPath()
    lower.addRect(bar)
    return path.intersected(lower)
