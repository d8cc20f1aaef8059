"""The scene mirrors the document: one map id -> item, fed by differences.

Items never write to the graph; every change goes through the document and comes back here
as a signal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtWidgets import QGraphicsItem, QGraphicsScene

from workbench.core.checks.analysis import Analysis
from workbench.core.checks.problems import Problem
from workbench.core.format import shape_text
from workbench.core.network.graph import Edge, GraphDiff, Node
from workbench.core.network.layout import NODE_WIDTH, Position
from workbench.core.network.routing import Router, end_points
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.document.project_document import ProjectDocument
from workbench.gui.design.canvas.blocks import BlockScene, GroupItem
from workbench.gui.design.canvas.items import LINE_REACH, EdgeItem, NodeItem
from workbench.gui.design.canvas.node_facts import Attention, NodeFacts, node_facts, settings_words
from workbench.gui.design.canvas.style import CanvasStyle
from workbench.gui.kit.theme import Glide

_MOST_GLIDING = 200
"""More items would not be drawn often enough: they are where they belong at once."""


class GraphScene(BlockScene):
    """Cards and lines of what the document shows of its graph: a folded group is one node.

    Signals:
        selection_changed(list[str]): Ids of the selected cards, in the graph's order.
        contents_changed(): Something moved, appeared or went.
        graph_changed(): The document's graph is another one (a gesture must end).
    """

    selection_changed = Signal(list)
    contents_changed = Signal()
    graph_changed = Signal()

    def __init__(
        self, document: ProjectDocument, layers: Registry[LayerSpec], look: CanvasStyle
    ) -> None:
        super().__init__(document, layers, look)
        self.edges: dict[Edge, EdgeItem] = {}
        self._shown_analysis: Analysis | None = None
        self._words: dict[str, tuple[Node, str]] = {}
        self._placed: Mapping[str, Position] = {}
        self._last_selection: tuple[list[str], list[Edge]] = ([], [])
        self.is_detailed = True
        self._is_batch = False
        self.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self.glide = Glide(self)
        self.selectionChanged.connect(self._on_selection_changed)
        document.shown_changed.connect(self._on_graph_changed)
        document.positions_changed.connect(self._on_positions_changed)
        document.analysis_changed.connect(self._on_analysis_changed)
        document.fixes.found.connect(self._on_fixes_found)
        document.project_replaced.connect(self.rebuild)
        document.selection_restored.connect(lambda selected: self.select(*selected))
        self.rebuild()

    def rebuild(self) -> None:
        """Rebuilds all items from the document."""
        with self.batch():
            self.remove_card()
            self.attention = Attention()
            for item in (*self.nodes.values(), *self.edges.values()):
                self.removeItem(item)
            self.nodes.clear()
            self.edges.clear()
            self._words.clear()
            self._placed = self.document.shown_positions
            self._add(self.graph.nodes, self.graph.edges)
        self.reroute()
        self._on_selection_changed()
        self.graph_changed.emit()

    def _on_graph_changed(self, change: GraphDiff) -> None:
        self.look_at(None)
        self.attention.begin()
        self.graph_changed.emit()
        with self.batch():
            for edge in change.removed_edges:
                self.removeItem(self.edges.pop(edge))
            for node_id in change.removed_nodes:
                if node_id not in self.shown.full.nodes:  # not only folded
                    self._words.pop(node_id, None)
                self.removeItem(self.nodes.pop(node_id))
            self._add(change.added_nodes, change.added_edges)
            self.nodes = {key: self.nodes[key] for key in self.graph.nodes}
            heights = {key: item.height for key, item in self.nodes.items()}
            self._refresh_facts(without=change.added_nodes)
            before = {key: item.pos() for key, item in self.nodes.items()}
            has_moved = self._place(self.document.shown_positions)
            self._glide_from(before, change.added_nodes)
        is_taller = any(item.height != heights[key] for key, item in self.nodes.items())
        has_others = any(
            (change.added_edges, change.removed_edges, change.added_nodes, change.removed_nodes)
        )
        if has_moved or is_taller or has_others:
            self.reroute()
        else:
            self.refresh_frames()
            self._notify_contents()
        self._on_selection_changed()

    def _glide_from(self, before: Mapping[str, QPointF], new: Collection[str]) -> None:
        """Cards that made room come from where they were, with the lines between those that moved
        alike; not a new or selected one, which is put where the pointer is.
        """
        still = {*new, *self.selected_ids()}
        away = {key: place - self.nodes[key].pos() for key, place in before.items()}
        moved = {key: by for key, by in away.items() if key not in still and not by.isNull()}
        offsets: dict[QGraphicsItem, QPointF] = {self.nodes[k]: by for k, by in moved.items()}
        for edge, line in self.edges.items():
            if edge.source in moved and moved[edge.source] == moved.get(edge.target):
                offsets[line] = moved[edge.source]
        self.glide.start_from(offsets if len(offsets) <= _MOST_GLIDING else {})

    def _on_positions_changed(self) -> None:
        if self._place(self.document.shown_positions):
            self.reroute()

    def _place(self, positions: Mapping[str, Position]) -> bool:
        """Puts cards where the document has them; True when it has others than last time."""
        if positions == self._placed:
            return False
        self._placed = positions
        for node_id, place in positions.items():
            item = self.nodes.get(node_id)
            if item is not None and item.pos().toTuple() != place:
                item.setPos(*place)
        return True

    def _on_analysis_changed(self, analysis: Analysis) -> None:
        if analysis is not self._shown_analysis:
            self._refresh_facts()
            self.refresh_frames()
            self._notify_contents()

    def _on_fixes_found(self, problem: Problem) -> None:
        has_card = self.card is not None and self.card.fixes == problem.known_fixes
        is_seen = bool(self.views())  # they may be found after the view is closed
        if is_seen and not has_card and problem == self.shown_problem():
            self._notify_contents()

    def _add(self, node_ids: Iterable[str], edges: Iterable[Edge]) -> None:
        places = self.document.shown_positions
        for node_id in node_ids:
            item = self.nodes[node_id] = self._new_item(node_id)
            item.setPos(*places.get(node_id, (0.0, 0.0)))
            if not self.is_detailed:  # it begins with all details
                item.set_detailed(False)
            self.addItem(item)
        for edge in edges:
            line = self.edges[edge] = EdgeItem(edge, self.look)
            self.addItem(line)

    def _new_item(self, node_id: str) -> NodeItem:
        if node_id in self.shown.members:
            return GroupItem(node_id, self.facts_of_card(node_id), self.look)
        return NodeItem(node_id, self.facts_of(node_id), self.look)

    def facts_of(self, node_id: str) -> NodeFacts:
        """What a card shows."""
        graph, analysis = self.document.graph, self.document.analysis
        self._shown_analysis = analysis
        if node_id in self.shown.members:
            return self.facts_of_card(node_id)
        node = graph.nodes[node_id]
        known = self._words.get(node_id)
        if known is None or known[0] is not node:
            known = self._words[node_id] = node, settings_words(node, self.layers.get(node.kind))
        is_named = node_id in self.mentions.named
        return node_facts(
            node,
            graph,
            self.layers,
            analysis,
            words=known[1],
            is_named=is_named,
            data=self.document.data_title,
        )

    def _refresh_facts(self, without: Collection[str] = ()) -> None:
        known = frozenset(without)
        for node_id, item in self.nodes.items():
            if node_id not in known:
                item.facts = self.facts_of(node_id)

    def refresh_look(self) -> None:
        """Repaints everything in the theme's new colors."""
        self.look.refresh()
        for item in self.items():
            item.update()
        self.update()
        self.refresh_card()

    def set_detailed(self, is_detailed: bool) -> None:  # noqa: FBT001 - a setter as Qt's are
        """Sets whether the texts of the cards are large enough to be read."""
        if is_detailed != self.is_detailed:
            self.is_detailed = is_detailed
            for item in self.nodes.values():
                item.set_detailed(is_detailed)
            self._notify_contents()

    def reroute(self) -> None:
        """Routes every edge again."""
        routes = Router(self.boxes()).route_all(self.edges)
        for edge, route in routes.items():
            self.edges[edge].set_route(route)
        self._place_shapes(self.nodes)
        self.refresh_frames()
        self._notify_contents()

    def _notify_contents(self) -> None:
        self.content = None
        self.refresh_card()
        self.content = None
        self.contents_changed.emit()

    def _place_shapes(self, node_ids: Iterable[str]) -> None:
        """Writes output shapes to the right of their edge, or to the left if a line is there."""
        graph = self.graph
        for node_id in node_ids:
            item = self.nodes[node_id]
            leaving = graph.edges_from(node_id)
            if len(leaving) == 1 and len(graph.edges_into(leaving[0].target)) == 1:
                line = self.edges.get(leaving[0])
                if line is None or line.is_straight:
                    item.is_shape_left = False  # most of them: the rest takes time
                    continue
            near = {e for out in leaving for e in graph.edges_into(out.target)} | {*leaving}
            lines = [self.edges[edge] for edge in near if edge in self.edges]
            if len(lines) < 2 and all(line.is_straight for line in lines):
                item.is_shape_left = False
                continue
            sides = [
                item.shape_place(is_left=side).translated(item.pos()) for side in (False, True)
            ]
            right, left = (any(line.crosses(place) for line in lines) for place in sides)
            item.is_shape_left = right and not left

    def reroute_near(self, node_ids: Iterable[str]) -> None:
        """Moves the lines at some nodes only: cheap enough for every mouse move."""
        moved = set(node_ids)
        boxes = self.boxes()
        router = Router(boxes)
        touched = {e.target for e in self.edges if e.source in moved or e.target in moved}
        edges = [edge for edge in self.edges if edge.target in touched]
        ends = end_points(edges, boxes)
        for edge in edges:
            self.edges[edge].set_route(router.route(edge, ends[edge]))
        self._place_shapes({edge.source for edge in edges})
        self.refresh_frames()
        self._notify_contents()

    def name(self, node_id: str) -> str:
        """The name of a node, as its card shows it."""
        return self.nodes[node_id].facts.name

    def is_data_at(self, point: QPointF) -> bool:
        """Whether the name of the data set, on the card of Input, is under a scene point."""
        item = self.node_at(point)
        return item is not None and item.data_place().translated(item.pos()).contains(point)

    def node_at(self, point: QPointF, margin: float = 0.0, *, without: str = "") -> NodeItem | None:
        """The topmost card, but of one node, under a scene point."""
        x, y = point.x(), point.y()
        for key, item in reversed(self.nodes.items()):
            away_x, away_y = x - item.pos().x(), y - item.pos().y()
            is_beside = -margin <= away_x <= NODE_WIDTH + margin
            if is_beside and -margin <= away_y <= item.height + margin and key != without:
                return item
        return None

    def output_at(self, point: QPointF, reach: float) -> NodeItem | None:
        """The node whose output port is under a scene point."""
        return self._nearest_port(point, reach, NodeItem.output_point)

    def input_at(self, point: QPointF, reach: float) -> NodeItem | None:
        """The node whose input side is under a scene point."""
        return self._nearest_port(point, reach, NodeItem.input_point)

    def _nearest_port(
        self, point: QPointF, reach: float, port: Callable[[NodeItem], QPointF]
    ) -> NodeItem | None:
        near = [(distance(port(item), point), key) for key, item in self.nodes.items()]
        best = min(near, default=(reach + 1, ""))
        return self.nodes[best[1]] if best[0] <= reach else None

    def edge_at(self, point: QPointF, reach: float = LINE_REACH) -> EdgeItem | None:
        """The nearest line that passes a scene point within a reach."""
        near = [item for item in self.edges.values() if item.is_near(point, reach)]
        found = min(((item.distance_to(point), item.edge) for item in near), default=None)
        return self.edges[found[1]] if found is not None and found[0] <= reach else None

    def edge_end_at(self, point: QPointF, reach: float) -> EdgeItem | None:
        """The line whose lower end is under a scene point."""
        near = [(distance(e.end_point(), point), e.edge, e) for e in self.edges.values()]
        best = min(near, key=lambda entry: entry[:2], default=None)
        return best[2] if best is not None and best[0] <= reach else None

    def content_rect(self) -> QRectF:
        """What all cards and their problem card cover."""
        if self.content is None:
            rect = self.cards_rect()
            if self.card is not None and self.card.isVisible():
                rect = rect.united(self.card.mapRectToScene(self.card.size))
            self.content = rect
        return self.content

    def cards_rect(self) -> QRectF:
        """What all cards and the frames of groups cover."""
        rect = QRectF()
        for item in self.nodes.values():
            below = 28.0 if item.facts.shape else 0.0
            rect = rect.united(item.card_rect().adjusted(0, 0, 0, below))
        for frame in self.frames.values():
            rect = rect.united(frame.area)
        return rect

    def selected_edges(self) -> list[Edge]:
        """The selected edges."""
        return [edge for edge, item in self.edges.items() if item.isSelected()]

    def selected_rect(self) -> QRectF:
        """What the selected cards and lines cover."""
        rect = QRectF()
        for key in self.selected_ids():
            rect = rect.united(self.nodes[key].card_rect())
        for edge in self.selected_edges():
            rect = rect.united(self.edges[edge].boundingRect())
        return rect

    def select(self, ids: Iterable[str], edges: Iterable[Edge] = ()) -> None:
        """Selects exactly the cards of these layers, and these edges."""
        wanted, wanted_edges = set(self.shown.shown_ids(ids)), set(edges)
        with self.batch():
            for key, item in self.nodes.items():
                item.setSelected(key in wanted)
            for edge, line in self.edges.items():
                line.setSelected(edge in wanted_edges)
        self._on_selection_changed()

    def selection(self) -> tuple[list[str], list[Edge]]:
        """The selected nodes and edges."""
        return self.selected_ids(), self.selected_edges()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """The selection is signaled by what follows, when all of a change is done."""
        was_batch, self._is_batch = self._is_batch, True
        try:
            yield
        finally:
            self._is_batch = was_batch

    def _on_selection_changed(self) -> None:
        if self._is_batch:
            return
        selected = self.selection()
        if selected != self._last_selection:
            self._last_selection = selected
            self.refresh_frames()
            self.refresh_card()
            self.content = None
            self.document.selection = tuple(selected[0]), tuple(selected[1])
            self.selection_changed.emit(selected[0])

    def tooltip_at(self, point: QPointF) -> str:
        """Plain text about what is under a scene point."""
        item = self.node_at(point)
        if item is not None:
            entry = self.shown.entry(item.node_id)
            shapes = self.document.analysis.inputs.get(entry, ())
            return item.facts.tooltip(" and ".join(map(shape_text, shapes)))
        line = self.edge_at(point)
        if line is None:
            frame = self.frame_at(point)
            return "" if frame is None else frame.title.facts.tooltip(frame.title.facts.inputs)
        source, target, port = line.edge.source, line.edge.target, line.edge.port
        words = f"{self.name(source)} → {self.name(target)}, input {port + 1}"
        return f"{words}\n{self.nodes[source].facts.shape}".rstrip()


def distance(a: QPointF, b: QPointF) -> float:
    """Length of the straight line between two points."""
    return math.hypot(a.x() - b.x(), a.y() - b.y())
