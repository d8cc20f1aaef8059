"""Connecting layers: by dragging from a port, or by the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from workbench.core.network.graph import Edge
from workbench.gui.design.canvas.gesture import ARROWS, Gesture, nearest_towards, next_node
from workbench.gui.design.canvas.items import EdgeItem, NodeItem
from workbench.gui.design.canvas.scene import GraphScene, distance
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView
from workbench.gui.design.gestures.marks import DraftEdgeItem, PortItem

# drag connection -----------------------------------------------------------------------------
# Dragging from a port: valid ends light up, others show why not, before the drop.

_CARD_MARGIN = 10.0


def click_edge(scene: GraphScene, edge: Edge, pointer: Pointer) -> None:
    """Selects a line alone; Shift or Ctrl keeps the rest, Ctrl takes a selected one out."""
    edges = set(scene.selected_edges())
    if pointer.has(Qt.KeyboardModifier.ControlModifier):
        scene.select(scene.selected_ids(), edges ^ {edge})
    elif pointer.has(Qt.KeyboardModifier.ShiftModifier):
        scene.select(scene.selected_ids(), {*edges, edge})
    else:
        scene.select([], [edge])


class DragConnection(Gesture):
    """Draws an edge from an output, from an input, or takes up the end of an old one.

    A press without a drag selects what is seen there: a port lies on a line or a card.

    Args:
        view: The canvas.
        source, target: Node at the one end that is fixed; None for the other.
        edge: The edge whose lower end is taken up; `source` is then its source.
        seen: The line at the pointer, which a click selects; None selects the card.
    """

    cursor = Qt.CursorShape.CrossCursor

    def __init__(
        self,
        view: ZoomView,
        *,
        source: str | None = None,
        target: str | None = None,
        edge: Edge | None = None,
        seen: EdgeItem | None = None,
    ) -> None:
        super().__init__(view)
        self._source = source
        self._target = target
        self._edge = edge
        self._seen = seen
        self._draft: DraftEdgeItem | None = None
        self._rings: dict[str, PortItem] = {}
        self._checked: dict[tuple[str, Edge | None], tuple[bool, str]] = {}

    def start(self, pointer: Pointer) -> None:
        self._origin = pointer.view

    def _begin(self, pointer: Pointer) -> None:
        """The press has become a drag."""
        self._draft = self.mark(DraftEdgeItem(self.scene.look))
        if self._edge is not None:
            self.scene.edges[self._edge].is_faded = True
        for key, item in self.scene.nodes.items():
            if self._is_candidate(key) and not self.refusal(key, None):
                self._rings[key] = self.mark(PortItem(self.scene.look))
                self._rings[key].setPos(self._open_port(item))
        self._draw(pointer.scene, is_refused=False)

    def move(self, pointer: Pointer) -> None:
        if self._draft is None:
            if distance(pointer.view, self._origin) < QApplication.startDragDistance():
                return
            self._begin(pointer)
        item = self._item_at(pointer.scene)
        self._set_near(item)
        if item is None:
            self._draw(pointer.scene, is_refused=False)
            self.view.show_hint(self._words_for_empty(), pointer.view)
            return
        key = item.node_id, self._replaced(item, pointer.scene)
        if key not in self._checked:
            reason = self.refusal(*key)
            self._checked[key] = bool(reason), reason or self._words_for(item, key[1])
        is_refused, words = self._checked[key]
        item.is_target = not is_refused
        self._draw(pointer.scene if is_refused else self._open_port(item), is_refused=is_refused)
        self.view.show_hint(words, pointer.view, is_refusal=is_refused)

    def end(self, pointer: Pointer) -> None:
        item = self._item_at(pointer.scene)
        if self._draft is None:
            self._end_click(pointer)
        elif item is None:
            self._end_on_empty(pointer)
        else:
            self._connect(item, self._replaced(item, pointer.scene))

    def _connect(self, item: NodeItem, replaced: Edge | None) -> None:
        """One edge comes; the one whose end was taken up and the one in its place go."""
        if self.refusal(item.node_id, replaced):
            return
        source, target = self._source or item.node_id, self._target or item.node_id
        port = None if replaced is None else replaced.port
        self.document.connect(source, target, port, replacing=self._gone(replaced))

    def _gone(self, replaced: Edge | None) -> list[Edge]:
        """The edges that a drop removes."""
        return [edge for edge in (self._edge, replaced) if edge is not None]

    def _replaced(self, item: NodeItem, point: QPointF) -> Edge | None:
        """The edge that a drop on a layer without a free input replaces: the nearest one."""
        taken = () if self._source is None else self.document.taken_inputs(item.node_id)
        lines = [self.scene.edges[edge] for edge in taken if edge != self._edge]
        found = min(lines, key=lambda line: distance(line.end_point(), point), default=None)
        return None if found is None else found.edge

    def _end_click(self, pointer: Pointer) -> None:
        """A press without a drag: only now is it known which one was meant."""
        if self._seen is not None:
            click_edge(self.scene, self._seen.edge, pointer)
            return
        item = self.scene.node_at(pointer.scene)
        self.scene.select([item.node_id if item else self._source or self._target or ""])

    def _end_on_empty(self, pointer: Pointer) -> None:
        """A new edge opens the search for the next layer; an old one is removed."""
        if (pointer.view - self._origin).manhattanLength() < 2 * _CARD_MARGIN:
            return
        if self._edge is not None:
            self.document.disconnect(self._edge)
        elif self._source is not None:
            self.view.search_asked.emit(pointer.scene, self._source)

    def _is_candidate(self, key: str) -> bool:
        """Sorts out most nodes at once: asking the document about 300 would be felt."""
        if key in {self._source, self._target}:
            return False
        return self._source is None or self.scene.has_free_input(key)

    def refusal(self, key: str, replaced: Edge | None) -> str:
        """Why no edge may join the fixed end and this node; "" when one may."""
        is_same = replaced is not None and replaced.source == self._source
        if is_same or (self._edge is not None and key == self._edge.target):
            return "Already connected here."
        source, target = self._source or key, self._target or key
        port = None if replaced is None else replaced.port
        gone = self._gone(replaced)
        return self.document.connection_problem(source, target, port, replacing=gone)

    def _words_for(self, item: NodeItem, replaced: Edge | None) -> str:
        source, target = self._source or item.node_id, self._target or item.node_id
        words = f"Connect {self.scene.name(source)} to {self.scene.name(target)}"
        if replaced is not None:
            words = f"Replace the connection from {self.scene.name(replaced.source)}"
        port, gone = (None if replaced is None else replaced.port), self._gone(replaced)
        warning = self.document.connection_warning(source, target, port, replacing=gone)
        return f"{words}\n{warning}" if warning and self._completes(target) else words

    def _completes(self, target: str) -> bool:
        """True when no input stays open: else what is missing is no news."""
        graph, target = self.document.graph, self.scene.shown.entry(target)
        spec = self.scene.layers.get(graph.nodes[target].kind)
        return spec is None or len(graph.edges_into(target)) + 1 >= spec.min_inputs

    def _words_for_empty(self) -> str:
        if self._edge is not None:
            return "Drop here to remove the connection"
        if self._source is not None:
            return "Drop on a layer to connect, or here to add one"
        return "Drop on the layer to connect from"

    def _item_at(self, point: QPointF) -> NodeItem | None:
        item = self.scene.node_at(point, _CARD_MARGIN)
        return None if item is None or item.node_id in {self._source, self._target} else item

    def _open_port(self, item: NodeItem) -> QPointF:
        return item.input_point() if self._source is not None else item.output_point()

    def _draw(self, free_end: QPointF, *, is_refused: bool) -> None:
        if self._draft is None:
            return
        if self._source is not None:
            start = self.scene.nodes[self._source].output_point()
            self._draft.set_line(start, free_end, is_refused=is_refused)
        elif self._target is not None:
            end = self.scene.nodes[self._target].input_point()
            self._draft.set_line(free_end, end, is_refused=is_refused)

    def _set_near(self, item: NodeItem | None) -> None:
        for key, other in self.scene.nodes.items():
            is_near = item is not None and item.node_id == key
            other.is_target = other.is_target and is_near
            if key in self._rings:
                self._rings[key].is_near = is_near

    def clear(self) -> None:
        self._set_near(None)
        super().clear()
        if self._edge is not None and self._edge in self.scene.edges:
            self.scene.edges[self._edge].is_faded = False


# keyboard ------------------------------------------------------------------------------------
# Connecting two nodes by the keyboard.


class ConnectByKeys(Gesture):
    """Arrows choose the end of an edge, Enter connects or disconnects, Escape gives up."""

    scrolls_at_edge = False

    def __init__(self, view: ZoomView, source: str) -> None:
        super().__init__(view)
        self._source = source

    def start(self, pointer: Pointer) -> None:  # noqa: ARG002 - no pointer is used
        self._draft = self.mark(DraftEdgeItem(self.scene.look))
        below = next_node(self.scene, self._source, (0, 1))
        candidates = [key for key in self.scene.nodes if self._is_free(key)]
        here = self.scene.nodes[self._source].output_point()
        away = {key: self.scene.nodes[key].input_point() - here for key in self.scene.nodes}
        ahead = [key for key in candidates if away[key].y() >= 0]
        nearest = ahead or candidates or [below or self._source]
        self._target = min(nearest, key=lambda key: away[key].manhattanLength())
        self._show()

    def _is_free(self, key: str) -> bool:
        if key == self._source or not self.scene.has_free_input(key):
            return False
        return not self.document.connection_problem(self._source, key)

    def _edge(self) -> Edge | None:
        """The edge that is there already: Enter takes it away."""
        edges = self.scene.graph.edges_from(self._source)
        return next((edge for edge in edges if edge.target == self._target), None)

    def key(self, event: QKeyEvent) -> bool:
        """Arrows walk, Enter connects where it is allowed."""
        step = ARROWS.get(Qt.Key(event.key()))
        if step is not None:
            self._walk(step)
        return event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and not self._reason()

    def _walk(self, step: tuple[int, int]) -> None:
        """Moves to the nearest card that way; the graph's edges say nothing about a new one."""
        found = nearest_towards(self.scene, self._target, step)
        if found == self._source:
            found = nearest_towards(self.scene, found, step)
        if found is not None:
            self.scene.nodes[self._target].is_target = False
            self._target = found
            self._show()

    def _reason(self) -> str:
        if self._target == self._source:
            return "There is no other layer to connect to."
        if self._edge() is not None:
            return ""
        gone = self._replaced()
        port = gone[0].port if gone else None
        return self.document.connection_problem(self._source, self._target, port, replacing=gone)

    def _replaced(self) -> tuple[Edge, ...]:
        """The edge whose place the new one takes: the first of a layer without a free input."""
        return self.document.taken_inputs(self._target)[:1]

    def _show(self) -> None:
        source, target = self.scene.nodes[self._source], self.scene.nodes[self._target]
        reason = self._reason()
        target.is_target = not reason
        self._draft.set_line(source.output_point(), target.input_point(), is_refused=bool(reason))
        self.view.ensureVisible(target.card_rect(), 40, 40)
        verb, to = ("connects", "to") if self._edge() is None else ("disconnects", "from")
        words = f"Enter {verb} {source.facts.name} {to} {target.facts.name}"
        if self._edge() is None and (gone := self._replaced()):
            words += f", in place of {self.scene.name(gone[0].source)}"
        corner = self.view.mapFromScene(target.card_rect().bottomRight())
        self.view.show_hint(reason or words, QPointF(corner), is_refusal=bool(reason))

    def end(self, pointer: Pointer) -> None:  # noqa: ARG002 - no pointer is used
        if edge := self._edge():
            self.document.disconnect(edge)
        else:
            gone = self._replaced()
            port = gone[0].port if gone else None
            self.document.connect(self._source, self._target, port, replacing=gone)

    def clear(self) -> None:
        super().clear()
        if self._target in self.scene.nodes:
            self.scene.nodes[self._target].is_target = False
