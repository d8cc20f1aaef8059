"""What every gesture is: it starts, moves, and ends or is canceled with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QKeyEvent

from workbench.gui.design.canvas.items import CanvasItem, NodeItem
from workbench.gui.design.canvas.scene import GraphScene
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView

# edge scroller -------------------------------------------------------------------------------
# Scrolls the canvas while a gesture's pointer stays near its edge.

_NEAR = 28.0
"""Distance to the edge, in view pixels, from which on it scrolls."""
_INTERVAL_MS = 25
_FASTEST = 14.0
_WAIT_MS = 500
"""A layer from the palette comes in over the edge: only a pointer that stays there scrolls."""


class EdgeScroller(QObject):
    """Scrolls in steps; calls `move` after each with the pointer, whose scene point changed.

    It begins once the gesture's pointer has been in the middle, or has waited at the edge.

    Attributes:
        wait: Runs while a pointer that came in over the edge has not left it yet.
        ticks: Runs while the canvas scrolls.
    """

    def __init__(self, view: ZoomView, move: Callable[[Pointer], None]) -> None:
        super().__init__(view)
        self._view = view
        self._move = move
        self._pointer: Pointer | None = None
        self._may_scroll = False
        self.wait = QTimer(self, interval=_WAIT_MS, singleShot=True)
        self.wait.timeout.connect(self._on_waited)
        self.ticks = QTimer(self, interval=_INTERVAL_MS)
        self.ticks.timeout.connect(self.step)

    def follow(self, pointer: Pointer) -> None:
        """Follows the gesture's pointer, which is here now."""
        self._pointer = pointer
        if self._speed(pointer.view).isNull():
            self._may_scroll = True
            self.wait.stop()
            self.ticks.stop()
        elif not self._may_scroll:
            if not self.wait.isActive():
                self.wait.start()
        elif not self.ticks.isActive():
            self.ticks.start()

    def _on_waited(self) -> None:
        self._may_scroll = True
        self.ticks.start()

    def stop(self) -> None:
        """Ends scrolling: the gesture is over."""
        self.wait.stop()
        self.ticks.stop()
        self._pointer, self._may_scroll = None, False

    def step(self) -> None:
        """Scrolls once, and moves the gesture along."""
        if self._pointer is None:
            return
        self._view.pan_by(-self._speed(self._pointer.view))
        self._move(self._pointer)

    def _speed(self, place: QPointF) -> QPointF:
        """View pixels per step: more the nearer to the edge, none in the middle."""
        room = self._view.viewport().rect()
        return QPointF(_push(place.x(), room.width()), _push(place.y(), room.height()))


def _push(value: float, length: float) -> float:
    inside = max(0.0, value - length + _NEAR) - max(0.0, _NEAR - value)
    return _FASTEST * max(-1.0, min(1.0, inside / _NEAR))


# walking -------------------------------------------------------------------------------------
# Walking from node to node by the arrow keys.

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
        places = {key: item.pos().toTuple()[::-1] for key, item in scene.nodes.items()}
        return min(places, key=places.__getitem__, default=None)
    graph = scene.graph
    here = _center(scene.nodes[current])
    follow = graph.targets if step[1] > 0 else graph.sources
    if step[1] and (linked := follow(current)):
        return min(linked, key=lambda key: abs(_center(scene.nodes[key]).x() - here.x()))
    return nearest_towards(scene, current, step)


def nearest_towards(scene: GraphScene, current: str, step: tuple[int, int]) -> str | None:
    """The nearest card on that side: sideways distance counts double."""
    here = _center(scene.nodes[current])
    costs: dict[str, float] = {}
    for key, item in scene.nodes.items():
        away = _center(item) - here
        ahead = away.x() * step[0] + away.y() * step[1]
        if key != current and ahead > 1:
            costs[key] = ahead + 2 * (abs(away.x() * step[1]) + abs(away.y() * step[0]))
    return min(costs, key=costs.__getitem__, default=None)


def _center(item: NodeItem) -> QPointF:
    return item.card_rect().center()


# gesture -------------------------------------------------------------------------------------

M = TypeVar("M", bound=CanvasItem)

LAYER_MIME = "application/x-workbench-layer"
BACKBONE_MIME = "application/x-workbench-backbone"
GRAPH_MIME = "application/x-workbench-graph"
PORT_REACH = 12.0
"""How near the pointer must be to a port, in scene pixels."""


class Gesture:
    """One gesture. The view runs at most one; nothing else may edit while it lasts.

    The document is changed in `end` only, by one edit, so that a gesture is one undo step
    and canceling has nothing to take back but marks on the canvas.
    """

    cursor: Qt.CursorShape | None = None
    scrolls_at_edge = True
    """Whether the canvas scrolls while the pointer stays near its edge."""

    hides_card = True
    """Whether the card of a problem is hidden while the pointer moves."""

    def __init__(self, view: ZoomView) -> None:
        self.view = view
        self.scene = view.graph_scene
        self.document = view.graph_scene.document
        self._marks: list[CanvasItem] = []

    def mark(self, item: M) -> M:
        """Adds an item to the canvas, to be seen until the gesture is over."""
        self.scene.addItem(item)
        self._marks.append(item)
        return item

    def clear(self) -> None:
        """Takes all marks away; called before `end` and `cancel`."""
        for item in self._marks:
            self.scene.removeItem(item)
        self._marks.clear()

    def start(self, pointer: Pointer) -> None:
        """Begins the gesture here."""

    def move(self, pointer: Pointer) -> None:
        """Follows the pointer, which has moved."""

    def end(self, pointer: Pointer) -> None:
        """Ends the gesture by making its one edit."""

    def cancel(self, reason: str) -> None:
        """Cancels the gesture, for `reason`."""

    def key(self, event: QKeyEvent) -> bool:  # noqa: ARG002 - for gestures by keyboard
        """A key during the gesture; True when it ends the gesture, which then makes its edit."""
        return False


class Pan(Gesture):
    """Moving the view: it follows the pointer; canceling brings it back."""

    cursor = Qt.CursorShape.ClosedHandCursor
    scrolls_at_edge = False
    hides_card = False

    def start(self, pointer: Pointer) -> None:
        self._last = pointer.view
        self._moved = QPointF()

    def move(self, pointer: Pointer) -> None:
        delta = pointer.view - self._last
        self._last = pointer.view
        self._moved += delta
        self.view.pan_by(delta)

    def cancel(self, reason: str) -> None:  # noqa: ARG002 - every reason is handled alike
        self.view.pan_by(-self._moved)
