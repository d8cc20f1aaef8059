"""Connecting two nodes by the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent

from workbench.core.network.graph import Edge
from workbench.gui.design.canvas.gesture import Gesture
from workbench.gui.design.canvas.walking import ARROWS, nearest_towards, next_node
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView
from workbench.gui.design.gestures.marks import DraftEdgeItem


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
