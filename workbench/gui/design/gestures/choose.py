"""Which gesture a press of the left button begins: by what lies under the pointer."""

from __future__ import annotations

from workbench.gui.design.canvas.gesture import PORT_REACH, Gesture
from workbench.gui.design.canvas.zoom_view import Pointer, ZoomView
from workbench.gui.design.gestures.drag_connection import DragConnection
from workbench.gui.design.gestures.move_nodes import MoveNodes
from workbench.gui.design.gestures.press import PressEdge, PressFix
from workbench.gui.design.gestures.rubber_band import RubberBand

_INSIDE_CARD = 5.0
"""A port is grabbed from outside its card; inside, the card is meant."""


def choose_gesture(view: ZoomView, pointer: Pointer) -> Gesture:
    """The gesture for what is topmost at the pointer."""
    scene, point = view.graph_scene, pointer.scene
    card = scene.card
    if card is not None and card.size.contains(point - card.pos()):
        return PressFix(view)
    item = scene.output_at(point, PORT_REACH)
    if item is not None and point.y() >= item.output_point().y() - _INSIDE_CARD:
        return DragConnection(view, source=item.node_id)
    line = scene.edge_end_at(point, PORT_REACH)
    if line is not None and point.y() <= line.end_point().y() + _INSIDE_CARD:
        return DragConnection(view, source=line.edge.source, edge=line.edge)
    item = scene.input_at(point, PORT_REACH)
    is_above = item is not None and point.y() <= item.input_point().y() + _INSIDE_CARD
    if item is not None and is_above and item.facts.is_open_above:
        return DragConnection(view, target=item.node_id)
    item = scene.node_at(point)
    if item is not None:
        return MoveNodes(view, item)
    line = scene.edge_at(point)
    return RubberBand(view) if line is None else PressEdge(view, line)
