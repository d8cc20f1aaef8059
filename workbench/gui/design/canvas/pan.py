"""Moving the picture: the middle button, or the left one while Space is held."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt

from workbench.gui.design.canvas.gesture import Gesture
from workbench.gui.design.canvas.zoom_view import Pointer


class Pan(Gesture):
    """The canvas follows the pointer; canceling brings it back."""

    cursor = Qt.CursorShape.ClosedHandCursor
    scrolls_at_edge = False

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
