"""What every gesture is: it starts, moves, and ends or is cancelled with a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent

if TYPE_CHECKING:
    from workbench.gui.canvas.view import GraphView

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


class Interaction:
    """One gesture. The view runs at most one; nothing else may edit while it lasts.

    The document is changed in `end` only, by one edit, so that a gesture is one undo step
    and cancelling has nothing to take back but marks on the canvas.
    """

    cursor: Qt.CursorShape | None = None
    scrolls_at_edge = True
    """Whether the canvas scrolls while the pointer stays near its edge."""

    def __init__(self, view: GraphView) -> None:
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


Chooser = Callable[["GraphView", Pointer], "Interaction | None"]
"""Picks the gesture that a press of the left button begins."""
