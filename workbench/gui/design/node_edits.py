"""What the canvas does with whole cards: cut, copy, paste, duplicate, delete, bypass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from PySide6.QtCore import QMimeData, QObject, QPointF
from PySide6.QtGui import QCursor, QGuiApplication

from workbench.gui.design.canvas.gesture import GRAPH_MIME
from workbench.gui.design.canvas.view import GraphView

T = TypeVar("T")


class Edit(Protocol):
    """Runs a change of the document and returns its result; shows a reason for refusal."""

    def __call__(self, change: Callable[[], T]) -> T | None: ...


class NodeEdits(QObject):
    """Copies and removes what is selected, and adds copies."""

    def __init__(self, view: GraphView, edit: Edit) -> None:
        super().__init__(view)
        self._view, self._edit = view, edit
        self._scene = view.graph_scene
        self._document = view.graph_scene.document

    @property
    def slots(self) -> dict[str, Callable[[], None]]:
        """What each of these actions does."""
        return {
            "cut": self.cut,
            "copy": self.copy,
            "paste": self.paste,
            "duplicate": self.duplicate,
            "delete": self.delete,
        }

    def copy(self) -> None:
        """Puts the selected nodes on the clipboard, as JSON."""
        if ids := self._scene.selected_ids():
            text = self._document.copy_text(ids)
            mime = QMimeData()
            mime.setData(GRAPH_MIME, text.encode())
            mime.setText(text)
            QGuiApplication.clipboard().setMimeData(mime)

    def cut(self) -> None:
        """Copies the selected nodes and removes them."""
        self.copy()
        self.delete()

    def paste(self) -> None:
        """Adds what the clipboard holds: at the pointer where that is on free ground, else beside
        the original.
        """
        self.paste_at(self._pointed_ground())

    def paste_at(self, place: QPointF | None) -> None:
        """Adds what the clipboard holds at a point of the scene; beside the original for None."""
        mime = QGuiApplication.clipboard().mimeData()
        text = mime.text()
        if mime.hasFormat(GRAPH_MIME):
            text = bytes(mime.data(GRAPH_MIME).data()).decode("utf-8", "replace")
        corner = None if place is None else (round(place.x()), round(place.y()))
        self._show_new(self._edit(lambda: self._document.paste(text, corner)))

    def duplicate(self) -> None:
        """Adds the selected nodes once more, beside them."""
        if ids := self._scene.selected_ids():
            self._show_new(self._edit(lambda: self._document.duplicate(ids)))

    def _show_new(self, ids: list[str] | None) -> None:
        if ids:
            self._scene.select(ids)
            self._view.reveal(ids)

    def delete(self) -> None:
        """Removes the selected nodes and edges; the neighbor is selected next."""
        ids, edges = self._scene.selected_ids(), self._scene.selected_edges()
        if ids or edges:
            self._remove(ids, lambda: self._document.remove(ids, edges))

    def bypass(self, node_id: str) -> None:
        """Removes a node and connects what was before and behind it."""
        self._remove([node_id], lambda: self._document.bypass(node_id))

    def _remove(self, ids: list[str], change: Callable[[], None]) -> None:
        """Makes an edit that removes nodes, and selects a neighbor."""
        graph = self._scene.graph
        near = [key for node in ids for key in (*graph.sources(node), *graph.targets(node))]
        self._edit(change)
        self._scene.select([key for key in near if key in self._scene.nodes][:1])

    def _pointed_ground(self) -> QPointF | None:
        """The scene point under the pointer; None for one beside the canvas or on a card."""
        viewport = self._view.viewport()
        position = viewport.mapFromGlobal(QCursor.pos())
        if not viewport.rect().contains(position) or not viewport.underMouse():
            return None
        point = self._view.mapToScene(position)
        is_card = self._scene.node_at(point) or self._scene.card_at(point)
        return None if is_card else point
