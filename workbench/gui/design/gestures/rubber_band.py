"""Dragging over the empty canvas selects what the rectangle touches."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt

from workbench.gui.design.canvas.gesture import Gesture
from workbench.gui.design.canvas.zoom_view import Pointer
from workbench.gui.design.gestures.marks import RubberBandItem

_ADDING = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier


class RubberBand(Gesture):
    """Selects as it grows; Shift or Ctrl adds to what was selected before."""

    def start(self, pointer: Pointer) -> None:
        self._origin = pointer.scene
        self._before = self.scene.selected_ids()
        self._kept = set(self._before) if pointer.modifiers & _ADDING else set()
        self._item = RubberBandItem(self.scene.look)
        self.scene.addItem(self._item)
        self.scene.select(self._kept)

    def move(self, pointer: Pointer) -> None:
        rect = QRectF(self._origin, pointer.scene).normalized()
        self._item.rect = rect
        touched = {
            key for key, item in self.scene.nodes.items() if item.card_rect().intersects(rect)
        }
        wanted = self._kept | touched
        if wanted != set(self.scene.selected_ids()):
            self.scene.select(wanted)

    def end(self, pointer: Pointer) -> None:  # noqa: ARG002 - what is selected is the result
        self.scene.removeItem(self._item)

    def cancel(self, reason: str) -> None:  # noqa: ARG002 - every reason is handled alike
        self.scene.removeItem(self._item)
        self.scene.select(self._before)
