"""What every gesture is: it starts, moves, and ends or is canceled with a reason."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent

from workbench.gui.design.canvas.item import CanvasItem
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView

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
