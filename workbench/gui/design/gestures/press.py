"""Presses that select an edge or push a fix button."""

from __future__ import annotations

from PySide6.QtCore import Qt

from workbench.core.checks.problems import Fix
from workbench.gui.design.canvas.edge_item import EdgeItem
from workbench.gui.design.canvas.gesture import Gesture
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView


class PressEdge(Gesture):
    """A click on a line selects it; Shift or Ctrl keeps the rest."""

    scrolls_at_edge = False

    def __init__(self, view: ZoomView, item: EdgeItem) -> None:
        super().__init__(view)
        self._item = item

    def start(self, pointer: Pointer) -> None:
        edge = self._item.edge
        if pointer.modifiers & Qt.KeyboardModifier.ControlModifier:
            edges = set(self.scene.selected_edges()) ^ {edge}
            self.scene.select(self.scene.selected_ids(), edges)
        elif pointer.modifiers & Qt.KeyboardModifier.ShiftModifier:
            self.scene.select(self.scene.selected_ids(), {*self.scene.selected_edges(), edge})
        else:
            self.scene.select([], [edge])


class PressFix(Gesture):
    """A click on a fix button; it counts when the pointer is still on it at the end."""

    cursor = Qt.CursorShape.PointingHandCursor
    scrolls_at_edge = False

    def start(self, pointer: Pointer) -> None:
        self._fix = self._fix_at(pointer)

    def end(self, pointer: Pointer) -> None:
        if self._fix is not None and self._fix_at(pointer) == self._fix:
            self.document.apply_fix(self._fix)

    def _fix_at(self, pointer: Pointer) -> Fix | None:
        card = self.scene.card
        return None if card is None else card.fix_at(pointer.scene)
