"""Choice of the gesture that a press of the left button begins, by what lies under the pointer.

A click means what is seen there, a card or a line; a drag means what can be taken from
there, a port before a card. Which of the two it is shows only when the pointer moves.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication

from workbench.core.checks.problems import Fix
from workbench.gui.design.canvas.edge_item import EdgeItem
from workbench.gui.design.canvas.gesture import PORT_REACH, Gesture
from workbench.gui.design.canvas.scene import distance
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView
from workbench.gui.design.gestures.drag_connection import DragConnection, click_edge
from workbench.gui.design.gestures.move_nodes import MoveNodes
from workbench.gui.design.gestures.rubber_band import RubberBand

_INSIDE_CARD = 5.0
"""A port is grabbed from outside its card; inside, the card is meant."""


def choose_gesture(view: ZoomView, pointer: Pointer) -> Gesture:
    """The gesture for what is topmost at the pointer."""
    scene, point = view.graph_scene, pointer.scene
    if scene.card_at(point) is not None:
        return PressFix(view)
    if scene.group_button_at(point):
        return PressGroupButton(view)
    item, line = scene.node_at(point), view.line_at(point)
    seen = line if item is None else None
    drag = _from_port(view, point, seen)
    if drag is not None:
        return drag
    if item is not None:
        return PressInput(view, item) if scene.is_data_at(point) else MoveNodes(view, item)
    frame = scene.frame_at(point)
    if frame is not None:
        ids = scene.shown.full.groups[frame.name]
        return MoveNodes(view, scene.nodes[ids[0]], ids)
    return RubberBand(view) if line is None else PressEdge(view, line)


def _from_port(view: ZoomView, point: QPointF, seen: EdgeItem | None) -> DragConnection | None:
    """What a press at a port begins; None away from all ports. `seen` is the line there."""
    scene = view.graph_scene
    item = scene.output_at(point, PORT_REACH)
    if item is not None and point.y() >= item.output_point().y() - _INSIDE_CARD:
        return DragConnection(view, source=item.node_id, seen=seen)
    line = scene.edge_end_at(point, PORT_REACH)
    if line is not None and point.y() <= line.end_point().y() + _INSIDE_CARD:
        return DragConnection(view, source=line.edge.source, edge=line.edge, seen=seen)
    item = scene.input_at(point, PORT_REACH)
    is_above = item is not None and point.y() <= item.input_point().y() + _INSIDE_CARD
    if item is not None and is_above and item.facts.is_open_above:
        return DragConnection(view, target=item.node_id, seen=seen)
    return None


class PressEdge(Gesture):
    """A click on a line selects it; Shift or Ctrl keeps the rest."""

    scrolls_at_edge = False

    def __init__(self, view: ZoomView, item: EdgeItem) -> None:
        super().__init__(view)
        self._item = item

    def start(self, pointer: Pointer) -> None:
        click_edge(self.scene, self._item.edge, pointer)


class PressInput(MoveNodes):
    """A click on the name of the data set leads to it; a drag moves the card."""

    def start(self, pointer: Pointer) -> None:
        self._at_press = pointer.view
        super().start(pointer)

    def end(self, pointer: Pointer) -> None:
        super().end(pointer)
        is_click = distance(pointer.view, self._at_press) < QApplication.startDragDistance()
        if is_click and self.scene.is_data_at(pointer.scene):
            self.view.data_asked.emit()


class PressGroupButton(Gesture):
    """A click on the button of a group folds or opens it, when the pointer is still on it."""

    cursor = Qt.CursorShape.PointingHandCursor
    scrolls_at_edge = False

    def start(self, pointer: Pointer) -> None:
        self._name = self.scene.group_button_at(pointer.scene)

    def end(self, pointer: Pointer) -> None:
        if self._name and self.scene.group_button_at(pointer.scene) == self._name:
            self.view.group_toggled.emit(self._name)


class PressFix(Gesture):
    """A click on a fix button, or on the close button of the card; it counts when the pointer is
    still on it at the end.
    """

    cursor = Qt.CursorShape.PointingHandCursor
    scrolls_at_edge = False
    hides_card = False

    def start(self, pointer: Pointer) -> None:
        self._fix = self._fix_at(pointer)
        self._is_closing = self._is_close_at(pointer)

    def _is_close_at(self, pointer: Pointer) -> bool:
        return self.scene.card is not None and self.scene.card.is_close_at(pointer.scene)

    def end(self, pointer: Pointer) -> None:
        if self._is_closing and self._is_close_at(pointer):
            self.scene.close_card()
        elif self._fix is not None and self._fix_at(pointer) == self._fix:
            self.document.apply_fix(self._fix)

    def _fix_at(self, pointer: Pointer) -> Fix | None:
        card = self.scene.card
        return None if card is None else card.fix_at(pointer.scene)
