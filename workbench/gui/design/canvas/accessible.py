"""What a screen reader finds on the canvas: a list of layers, each said in one sentence.

Graphics items are invisible to screen readers; these interfaces represent them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from PySide6.QtCore import QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface, QWindow
from shiboken6 import isValid

from workbench.gui.design.canvas.items import NodeItem
from workbench.gui.design.canvas.view import GraphView

_KEPT: list[QAccessibleInterface] = []
"""Qt's cache refers to interfaces by address: one that Python collected would be a crash,
so they stay, some hundred bytes each."""


class CanvasInterface(QAccessibleInterface):
    """The canvas as a list of its nodes, in the graph's order."""

    def __init__(self, view: GraphView) -> None:
        super().__init__()
        self._view = view
        self._nodes: dict[str, NodeInterface] = {}

    def isValid(self) -> bool:
        return bool(isValid(self._view))

    def object(self) -> QObject:
        return self._view

    def window(self) -> QWindow | None:  # type: ignore[override] # there may be none yet
        return self._view.window().windowHandle()

    def parent(self) -> QAccessibleInterface:
        return QAccessible.queryAccessibleInterface(
            self._view.parentWidget() or self._view.window()
        )

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.List

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.focusable = 1
        state.focused = int(self._view.hasFocus())
        state.multiSelectable = 1
        return state

    def text(self, kind: QAccessible.Text) -> str:
        if kind != QAccessible.Text.Name:
            return ""
        return f"{self._view.accessibleName()}, {self.childCount()} layers"

    def rect(self) -> QRect:
        corner = self._view.mapToGlobal(self._view.rect().topLeft())
        return QRect(corner, self._view.size())

    def childCount(self) -> int:
        return len(self._view.graph_scene.nodes) if self.isValid() else 0

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override]
        keys = list(self._view.graph_scene.nodes)
        return self.node(keys[index]) if 0 <= index < len(keys) else None

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:  # type: ignore[override]
        place = self._view.viewport().mapFromGlobal(QPoint(x, y))
        item = self._view.graph_scene.node_at(self._view.mapToScene(place))
        return None if item is None else self.node(item.node_id)

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        keys = list(self._view.graph_scene.nodes)
        if isinstance(child, NodeInterface) and child.node_id in keys:
            return keys.index(child.node_id)
        return -1

    def node(self, node_id: str) -> NodeInterface:
        """The interface of a node, always the same one."""
        if node_id not in self._nodes:
            self._nodes[node_id] = NodeInterface(self, self._view, node_id)
            _KEPT.append(self._nodes[node_id])
        return self._nodes[node_id]

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Names come from the document; readers cannot set them."""


class NodeInterface(QAccessibleInterface):
    """One node: its sentence, its place, and whether it is selected."""

    def __init__(self, canvas: CanvasInterface, view: GraphView, node_id: str) -> None:
        super().__init__()
        self.node_id = node_id
        self._canvas = canvas
        self._view = view

    def _item(self) -> NodeItem | None:
        return self._view.graph_scene.nodes.get(self.node_id) if isValid(self._view) else None

    def isValid(self) -> bool:
        return self._item() is not None

    def object(self) -> QObject | None:  # type: ignore[override] # an item is no QObject
        return None

    def parent(self) -> QAccessibleInterface:
        return self._canvas

    def role(self) -> QAccessible.Role:
        return QAccessible.Role.ListItem

    def state(self) -> QAccessible.State:
        state, item = QAccessible.State(), self._item()
        state.selectable = state.focusable = 1
        if item is None:
            state.invalid = 1
        elif item.isSelected():
            state.selected = 1
            state.focused = int(self._view.hasFocus())
        return state

    def text(self, kind: QAccessible.Text) -> str:
        item = self._item()
        return item.facts.accessible_text() if item and kind == QAccessible.Text.Name else ""

    def rect(self) -> QRect:
        item = self._item()
        if item is None:
            return QRect()
        place = self._view.mapFromScene(item.card_rect()).boundingRect()
        return QRect(self._view.viewport().mapToGlobal(place.topLeft()), place.size())

    def childCount(self) -> int:
        return 0

    def child(self, index: int) -> QAccessibleInterface | None:  # type: ignore[override] # noqa: ARG002
        return None

    def childAt(  # type: ignore[override]
        self,
        x: int,  # noqa: ARG002 - Qt's signature
        y: int,  # noqa: ARG002
    ) -> QAccessibleInterface | None:
        return None

    def indexOfChild(self, child: QAccessibleInterface) -> int:  # noqa: ARG002 - a leaf
        return -1

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Names come from the document; readers cannot set them."""


def _make(_class_name: str, owner: Any) -> QAccessibleInterface | None:
    """Qt's factory: only canvases are ours."""
    if not isinstance(owner, GraphView):
        return None
    interface = CanvasInterface(owner)
    _KEPT.append(interface)
    return interface


def announce_selection(view: GraphView, node_id: str) -> None:
    """Notifies a screen reader, where one runs, that a node has the focus now."""
    if QAccessible.isActive() and node_id in view.graph_scene.nodes:
        event = QAccessibleEvent(view, QAccessible.Event.Focus)
        event.setChild(list(view.graph_scene.nodes).index(node_id))
        QAccessible.updateAccessibility(event)


@cache
def install() -> None:
    """Makes all canvases visible to screen readers; once for the process."""
    QAccessible.installFactory(_make)
