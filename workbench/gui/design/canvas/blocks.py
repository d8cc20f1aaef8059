"""Groups of layers on the canvas: the card of a folded one, the frame of an open one.

A card is a node of the shown graph alone, with an id that no layer can have
(`workbench.core.network.folding`); an edit of the card is an edit of one of its layers.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem

from workbench.core.network.folding import GROUP_HEIGHT, TITLE_HEIGHT, Folding, frame_of, group_of
from workbench.core.network.graph import Graph, Training
from workbench.core.network.layout import NODE_WIDTH
from workbench.core.network.roles import Layers
from workbench.document.project_document import ProjectDocument
from workbench.gui.design.canvas.items import CanvasItem, NodeItem, Shown, scale_of
from workbench.gui.design.canvas.node_facts import GroupFacts, group_facts
from workbench.gui.design.canvas.problems import ProblemScene
from workbench.gui.design.canvas.style import DETAIL_FROM, PADDING, RADIUS, STRIP_WIDTH, CanvasStyle

# card ----------------------------------------------------------------------------------------
# A folded group as one card, on the edges of others that lie behind it.

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


# frame ---------------------------------------------------------------------------------------
# The frame around the layers of an open group: its ground below the cards, its title above the
# lines.

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


# scene ---------------------------------------------------------------------------------------
# The part of the scene that shows groups: what stands for a layer, and the frames of open ones.


class BlockScene(ProblemScene):
    """Cards with frames around those of open groups.

    Attributes:
        layers: The layer types there are.
        frames: That of each open group, by the group's name.
    """

    def __init__(self, document: ProjectDocument, layers: Layers, look: CanvasStyle) -> None:
        super().__init__(document, look)
        self.layers = layers
        self.frames: dict[str, FrameItem] = {}

    @property
    def shown(self) -> Folding:
        """What is shown of the network."""
        return self.document.shown

    @property
    def graph(self) -> Graph:
        """The network with a card for each folded group."""
        return self.document.shown.graph

    def facts_of_card(self, card: str) -> GroupFacts:
        """What the card of a folded group shows."""
        return self._group_facts(group_of(card), self.shown.members[card])

    def _group_facts(self, name: str, ids: tuple[str, ...]) -> GroupFacts:
        return group_facts(name, ids, self.shown, self.layers, self.document.analysis)

    def refresh_frames(self) -> None:
        """Puts a frame around the cards of each open group, where they are now."""
        opened = self._open_groups()
        framed = {key for ids in opened.values() for key in ids}
        for key, item in self.nodes.items():
            item.is_framed = key in framed
        for name in [name for name in self.frames if name not in opened]:
            frame = self.frames.pop(name)
            self.removeItem(frame.title)
            self.removeItem(frame)
        selected = set(self.selected_ids())
        for name, ids in opened.items():
            if name not in self.frames:
                frame = self.frames[name] = FrameItem(name, self.look)
                self.addItem(frame)
                self.addItem(frame.title)
            is_selected = selected.issuperset(ids)
            facts = self._group_facts(name, ids)
            self.frames[name].show_facts(facts, self._area(ids), is_selected=is_selected)

    def _open_groups(self) -> dict[str, tuple[str, ...]]:
        """Groups whose layers all have cards: name -> ids. A removed card is taken away a moment
        later.
        """
        found = self.shown.full.groups.items()
        return {name: ids for name, ids in found if all(key in self.nodes for key in ids)}

    def _area(self, ids: tuple[str, ...]) -> QRectF:
        boxes = {key: self.nodes[key].box for key in ids}
        places = {key: (box.left, box.top) for key, box in boxes.items()}
        sizes = {key: (box.right - box.left, box.bottom - box.top) for key, box in boxes.items()}
        area = frame_of(ids, places, sizes)
        return QRectF(QPointF(area.left, area.top), QPointF(area.right, area.bottom))

    def frame_at(self, point: QPointF) -> FrameItem | None:
        """The frame whose title is under a scene point."""
        frames = reversed(self.frames.values())
        return next((frame for frame in frames if frame.title_rect().contains(point)), None)

    def group_button_at(self, point: QPointF) -> str:
        """The group whose button to fold or open it is under a scene point; "" for none."""
        for item in self.nodes.values():
            if isinstance(item, GroupItem) and item.button_rect().contains(point):
                return item.name
        for name, frame in self.frames.items():
            if frame.button_rect().contains(point):
                return name
        return ""

    def selected_group(self) -> str:
        """The group that is selected, as a whole and alone; "" for none."""
        return self.document.selected_group(self.selected_ids())

    def has_free_input(self, node_id: str) -> bool:
        """True while a card can take one more edge: the quick part of what is allowed."""
        entry, graph = self.shown.entry(node_id), self.shown.full
        spec = self.layers.get(graph.nodes[entry].kind)
        limit = spec.max_inputs if spec is not None else None
        return limit is None or len(graph.edges_into(entry)) < limit
