"""The part of the scene that shows groups: what stands for a layer, and the frames of open ones."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

from workbench.core.network.blocks import frame_of
from workbench.core.network.folding import Folding, group_of
from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers
from workbench.document.project_document import ProjectDocument
from workbench.gui.design.canvas.blocks.card import GroupItem
from workbench.gui.design.canvas.blocks.facts import GroupFacts, group_facts
from workbench.gui.design.canvas.blocks.frame import FrameItem
from workbench.gui.design.canvas.problem_scene import ProblemScene
from workbench.gui.design.canvas.style import CanvasStyle


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
