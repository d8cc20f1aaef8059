"""What every gesture is: it starts, moves, and ends or is canceled with a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from workbench.gui.design.canvas.scene import GraphScene

LAYER_MIME = "application/x-workbench-layer"
GRAPH_MIME = "application/x-workbench-graph"
PORT_REACH = 12.0
"""How near the pointer must be to a port, in scene pixels."""


@dataclass(frozen=True)
class Pointer:
    """Where the pointer is, and which keys are held."""

    scene: QPointF
    view: QPointF
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier

    def has(self, modifier: Qt.KeyboardModifier) -> bool:
        """True while a modifier key is held."""
        return bool(self.modifiers & modifier)


class GestureView(Protocol):
    """What a gesture asks of the view that runs it; `GraphView` is one."""

    graph_scene: GraphScene

    def viewport(self) -> QWidget:
        """The widget that shows the scene."""

    def mapFromScene(self, point: QPointF, /) -> QPoint:
        """A scene point in view pixels."""

    def ensureVisible(self, rect: QRectF, xmargin: int, ymargin: int, /) -> None:
        """Scrolls a part of the scene into view."""

    def pan_by(self, delta: QPointF) -> None:
        """Scrolls by view pixels."""

    def pointer(self, position: QPointF, modifiers: Qt.KeyboardModifier) -> Pointer:
        """A view position as gestures want it."""

    def show_hint(self, text: str, position: QPointF, *, is_refusal: bool = False) -> None:
        """Shows a text beside the pointer, in view pixels."""

    def hide_hint(self) -> None:
        """Hides that text."""

    def finish(self, pointer: Pointer) -> None:
        """Ends the gesture: it makes its edit."""

    def ask_search(self, point: QPointF, node_id: str) -> None:
        """Opens the layer search at a scene point, for a layer after a node."""


class Gesture:
    """One gesture. The view runs at most one; nothing else may edit while it lasts.

    The document is changed in `end` only, by one edit, so that a gesture is one undo step
    and canceling has nothing to take back but marks on the canvas.
    """

    cursor: Qt.CursorShape | None = None
    scrolls_at_edge = True
    """Whether the canvas scrolls while the pointer stays near its edge."""

    def __init__(self, view: GestureView) -> None:
        self.view = view
        self.scene = view.graph_scene
        self.document = view.graph_scene.document

    def start(self, pointer: Pointer) -> None:
        """The gesture begins here."""

    def move(self, pointer: Pointer) -> None:
        """The pointer is somewhere else."""

    def end(self, pointer: Pointer) -> None:
        """The gesture is done: make its one edit."""

    def cancel(self, reason: str) -> None:
        """The gesture is given up (`reason` says why): take all marks away."""

    def key(self, event: QKeyEvent) -> bool:  # noqa: ARG002 - for gestures by keyboard
        """A key during the gesture; True when it was used."""
        return False


@dataclass(frozen=True)
class GestureChoice:
    """The gestures that a view begins by itself.

    Attributes:
        on_press: The gesture that a press of the left button at a pointer begins.
        on_layer: The gesture of a layer dragged in, by the key of its type.
    """

    on_press: Callable[[GestureView, Pointer], Gesture | None]
    on_layer: Callable[[GestureView, str], Gesture]
