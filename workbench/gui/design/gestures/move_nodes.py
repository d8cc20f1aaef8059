"""Dragging cards: a click selects, a drag moves all that is selected, as one undo step."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtWidgets import QApplication

from workbench.core.network.layout import GAP, NODE_WIDTH
from workbench.gui.design.canvas.gesture import Gesture
from workbench.gui.design.canvas.node_item import NodeItem
from workbench.gui.design.canvas.scene import distance
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView
from workbench.gui.design.gestures.marks import GuideItem

SNAP = 7.0
"""How near, in scene pixels, a card is pulled into line with another."""
_TOGGLING = Qt.KeyboardModifier.ControlModifier
_ADDING = Qt.KeyboardModifier.ShiftModifier


class MoveNodes(Gesture):
    """Moves the selected cards; they line up with others unless Alt is held."""

    def __init__(self, view: ZoomView, item: NodeItem) -> None:
        super().__init__(view)
        self._item = item
        self._has_moved = False

    def start(self, pointer: Pointer) -> None:
        self._origin = pointer
        self._was_selected = self._item.isSelected()
        self._select_pressed(pointer)
        self._before = {
            key: QPointF(self.scene.nodes[key].pos()) for key in self.scene.selected_ids()
        }
        self._guides = self.mark(GuideItem(self.scene.look))

    def _select_pressed(self, pointer: Pointer) -> None:
        selected, key = set(self.scene.selected_ids()), self._item.node_id
        if pointer.has(_TOGGLING | _ADDING):
            self.scene.select({*selected, key}, self.scene.selected_edges())
        elif not self._was_selected:
            self.scene.select([key])

    def move(self, pointer: Pointer) -> None:
        if not self._has_moved:
            travelled = distance(pointer.view, self._origin.view)
            if travelled < QApplication.startDragDistance():
                return
            self._has_moved = True
        delta = pointer.scene - self._origin.scene
        if pointer.has(Qt.KeyboardModifier.AltModifier):
            self._guides.lines = []
        else:
            delta = self._snapped(delta)
        for key, before in self._before.items():
            self.scene.nodes[key].setPos(before + delta)
        self.scene.reroute_near(self._before)

    def _snapped(self, delta: QPointF) -> QPointF:
        """The nearest move that lines the pressed card up with one that does not move."""
        wanted = self._before[self._item.node_id] + delta
        still = [item for key, item in self.scene.nodes.items() if key not in self._before]
        lines: list[QLineF] = []
        x = _nearest(wanted.x(), [item.pos().x() for item in still])
        levels = [item.pos().y() for item in still]
        levels += [item.box.bottom + GAP for item in still if abs(item.pos().x() - wanted.x()) < 2]
        y = _nearest(wanted.y(), levels)
        if x is not None:
            tops = [wanted.y(), *(item.pos().y() for item in still if item.pos().x() == x)]
            middle = x + NODE_WIDTH / 2
            lines.append(QLineF(middle, min(tops), middle, max(tops) + self._item.height))
        row = [item.pos().x() for item in still if item.pos().y() == y]
        if y is not None and row:
            sides = [*row, wanted.x()]
            level = y + self._item.height / 2
            lines.append(QLineF(min(sides), level, max(sides) + NODE_WIDTH, level))
        self._guides.lines = lines
        snapped = QPointF(wanted.x() if x is None else x, wanted.y() if y is None else y)
        return snapped - self._before[self._item.node_id]

    def end(self, pointer: Pointer) -> None:
        if not self._has_moved:
            self._end_click(pointer)
            return
        moved = {key: item.pos() for key, item in self.scene.nodes.items() if key in self._before}
        positions = {key: (round(pos.x()), round(pos.y())) for key, pos in moved.items()}
        name = self._item.facts.name if len(positions) == 1 else f"{len(positions)} layers"
        self.document.move(positions, f"Move {name}")
        self.scene.reroute()

    def _end_click(self, pointer: Pointer) -> None:
        """A press without a drag: only now is it known which one was meant."""
        key = self._item.node_id
        if pointer.has(_TOGGLING) and self._was_selected:
            self.scene.select(set(self.scene.selected_ids()) - {key}, self.scene.selected_edges())
        elif not pointer.has(_TOGGLING | _ADDING):
            self.scene.select([key])

    def cancel(self, reason: str) -> None:  # noqa: ARG002 - every reason is handled alike
        if self._has_moved:
            for key, before in self._before.items():
                if key in self.scene.nodes:
                    self.scene.nodes[key].setPos(before)
            self.scene.reroute()


def _nearest(value: float, candidates: list[float]) -> float | None:
    """The candidate within snapping distance that is nearest."""
    best = min(candidates, key=lambda x: abs(x - value), default=None)
    return best if best is not None and abs(best - value) <= SNAP else None
