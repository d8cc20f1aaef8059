"""The canvas without a mouse: walking along the graph, and connecting two nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent

from workbench.core.graph import Edge
from workbench.gui.canvas.gesture_marks import DraftEdgeItem
from workbench.gui.canvas.node_item import NodeItem
from workbench.gui.canvas.scene import GraphScene
from workbench.gui.interactions.interaction import Interaction, Pointer

if TYPE_CHECKING:
    from workbench.gui.canvas.view import GraphView

ARROWS = {
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
}


def next_node(scene: GraphScene, current: str | None, step: tuple[int, int]) -> str | None:
    """The node that an arrow leads to.

    Up and down follow the edges, nearest column first; without an edge that way, and to
    the sides, the nearest card in that direction is taken.

    Args:
        scene: The canvas.
        current: Where one is; None for nowhere.
        step: (-1, 0) left, (1, 0) right, (0, -1) up, (0, 1) down.
    """
    if current is None or current not in scene.nodes:
        order = sorted(scene.nodes, key=lambda key: scene.nodes[key].pos().toTuple()[::-1])
        return order[0] if order else None
    graph = scene.document.graph
    here = _center(scene.nodes[current])
    linked: tuple[str, ...] = ()
    if step[1]:
        linked = graph.targets(current) if step[1] > 0 else graph.sources(current)
    if linked:
        return min(linked, key=lambda key: abs(_center(scene.nodes[key]).x() - here.x()))
    return _nearest_towards(scene, current, here, step)


def _nearest_towards(
    scene: GraphScene, current: str, here: QPointF, step: tuple[int, int]
) -> str | None:
    """The nearest card on that side: sideways distance counts double."""
    best: tuple[float, str] | None = None
    for key, item in scene.nodes.items():
        away = _center(item) - here
        ahead = away.x() * step[0] + away.y() * step[1]
        aside = abs(away.x() * step[1]) + abs(away.y() * step[0])
        if key == current or ahead <= 1:
            continue
        cost = ahead + 2 * aside
        if best is None or cost < best[0]:
            best = cost, key
    return None if best is None else best[1]


def _center(item: NodeItem) -> QPointF:
    return item.card_rect().center()


class ConnectByKeys(Interaction):
    """Arrows choose the end of an edge, Enter connects or disconnects, Escape gives up."""

    scrolls_at_edge = False

    def __init__(self, view: GraphView, source: str) -> None:
        super().__init__(view)
        self._source = source

    def start(self, pointer: Pointer) -> None:  # noqa: ARG002 - no pointer is used
        self._draft = DraftEdgeItem(self.scene.look)
        self.scene.addItem(self._draft)
        below = next_node(self.scene, self._source, (0, 1))
        candidates = [key for key in self.scene.nodes if self._is_free(key)]
        here = self.scene.nodes[self._source].output_point()
        ahead = [k for k in candidates if self.scene.nodes[k].input_point().y() >= here.y()]
        self._target = min(
            ahead or candidates or ([below] if below else [self._source]),
            key=lambda key: self._distance(key, here),
        )
        self._show()

    def _distance(self, key: str, here: QPointF) -> float:
        return float((self.scene.nodes[key].input_point() - here).manhattanLength())

    def _is_free(self, key: str) -> bool:
        if key == self._source or not self.scene.has_free_input(key):
            return False
        return not self.document.connection_problem(self._source, key)

    def _edge(self) -> Edge | None:
        """The edge that is there already: Enter takes it away."""
        edges = self.document.graph.edges_from(self._source)
        return next((edge for edge in edges if edge.target == self._target), None)

    def key(self, event: QKeyEvent) -> bool:
        """Arrows walk, Enter connects where it is allowed."""
        step = ARROWS.get(Qt.Key(event.key()))
        if step is not None:
            self._walk(step)
            return True
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            if not self._reason():
                center = QPointF(self.view.viewport().rect().center())
                self.view.finish(self.view.pointer(center, event.modifiers()))
            return True
        return False

    def _walk(self, step: tuple[int, int]) -> None:
        """To the nearest card that way; the graph's edges say nothing about a new one."""
        here = _center(self.scene.nodes[self._target])
        found = _nearest_towards(self.scene, self._target, here, step)
        if found == self._source:
            here = _center(self.scene.nodes[found])
            found = _nearest_towards(self.scene, found, here, step)
        if found is not None:
            self.scene.nodes[self._target].set_target(False)
            self._target = found
            self._show()

    def _reason(self) -> str:
        if self._target == self._source:
            return self.view.tr("There is no other layer to connect to.")
        if self._edge() is not None:
            return ""
        return self.document.connection_problem(self._source, self._target)

    def _show(self) -> None:
        source, target = self.scene.nodes[self._source], self.scene.nodes[self._target]
        reason = self._reason()
        target.set_target(not reason)
        self._draft.set_line(source.output_point(), target.input_point(), is_refused=bool(reason))
        self.view.ensureVisible(target.card_rect(), 40, 40)
        text = self.view.tr("Enter connects {source} to {target}")
        if self._edge() is not None:
            text = self.view.tr("Enter disconnects {source} from {target}")
        words = text.format(source=source.facts.name, target=target.facts.name)
        corner = self.view.mapFromScene(target.card_rect().bottomRight())
        self.view.show_hint(reason or words, QPointF(corner), is_refusal=bool(reason))

    def end(self, pointer: Pointer) -> None:  # noqa: ARG002 - no pointer is used
        self._clear()
        edge = self._edge()
        if edge is not None:
            self.document.disconnect(edge)
        else:
            self.document.connect(self._source, self._target)

    def cancel(self, reason: str) -> None:  # noqa: ARG002 - every reason is handled alike
        self._clear()

    def _clear(self) -> None:
        self.scene.removeItem(self._draft)
        if self._target in self.scene.nodes:
            self.scene.nodes[self._target].set_target(False)
        self.view.hide_hint()
