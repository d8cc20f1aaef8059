"""A folded group as one card, on the edges of others that lie behind it."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from workbench.core.network.blocks import GROUP_HEIGHT
from workbench.core.network.folding import group_of
from workbench.core.network.graph import Training
from workbench.core.network.layout import NODE_WIDTH
from workbench.gui.design.canvas.blocks.facts import GroupFacts
from workbench.gui.design.canvas.node_item import NodeItem
from workbench.gui.design.canvas.style import PADDING, RADIUS, STRIP_WIDTH, CanvasStyle

BUTTON = 22.0
"""Side of the button that opens or folds a group."""

_STACK = (6.0, 3.0)
_LINES = (27.0, 46.0)


class GroupItem(NodeItem):
    """Name, parameters, shapes, number of layers, and when they learn.

    The left strip has the categories of its layers from the first to the last, the right one the
    colors of their training.
    """

    def __init__(self, node_id: str, facts: GroupFacts, look: CanvasStyle) -> None:
        super().__init__(node_id, facts, look)
        self.name = group_of(node_id)

    @property
    def group_facts(self) -> GroupFacts:
        """What it shows."""
        return self.facts if isinstance(self.facts, GroupFacts) else GroupFacts("", "")

    @property
    def height(self) -> float:
        return GROUP_HEIGHT

    def button_rect(self) -> QRectF:
        """The button that opens the group, in the scene."""
        return _button(self.height).translated(self.pos())

    def _paint_card(self, painter: QPainter) -> None:
        look = self._look
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(look.border_pen)
        painter.setBrush(look.panel)
        for inset in _STACK:
            behind = QRectF(inset, self.height - RADIUS, NODE_WIDTH - 2 * inset, RADIUS + inset)
            painter.drawRoundedRect(behind.translated(0, 1), RADIUS - 2, RADIUS - 2)
        super()._paint_card(painter)
        look.draw_chevron(painter, _button(self.height).center(), is_down=True)

    def _paint_strips(self, painter: QPainter) -> None:
        look, facts = self._look, self.group_facts
        colors = [look.category_color(key) for key in facts.categories]
        _, strip = look.card_paths(self.height)
        painter.save()
        painter.setClipPath(strip)
        step = self.height / max(1, len(colors))
        for number, color in enumerate(colors):
            painter.fillRect(QRectF(0, number * step, STRIP_WIDTH, step + 1), color)
        painter.restore()
        look.draw_trainings(painter, NODE_WIDTH, self.height, facts.trainings)

    def _paint_words(self, painter: QPainter) -> None:
        look, facts = self._look, self.group_facts
        width = NODE_WIDTH - 2 * PADDING
        place = QRectF(PADDING, _LINES[0], width, 18)
        look.words_ink.draw(painter, place, look.words_ink.elided(facts.words, width))
        width = NODE_WIDTH - 2 * PADDING - BUTTON
        look.draw_words(painter, QRectF(PADDING, _LINES[1], width, 18), facts.parts)

    def _trainings(self) -> tuple[Training, ...]:
        return self.group_facts.trainings


def _button(height: float) -> QRectF:
    return QRectF(NODE_WIDTH - PADDING - BUTTON + 6, height - BUTTON - 6, BUTTON, BUTTON)
