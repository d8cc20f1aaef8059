"""A field over a card in which its name is edited: Enter renames, Escape gives up."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit

from workbench.core.network.folding import card_id
from workbench.errors import WorkbenchError
from workbench.gui.design.canvas.view import GraphView

_LEAST_WIDTH, _HEIGHT = 150, 30


class RenameBox(QLineEdit):
    """Lies on the canvas. An invalid name is kept for correction, with the reason beside it.

    Args:
        view: The canvas.
        rename: Gives a node another name; raises WorkbenchError with the reason.
    """

    def __init__(self, view: GraphView, rename: Callable[[str, str], None]) -> None:
        super().__init__(view)
        self._view, self._rename = view, rename
        self._node_id = ""
        self._group = ""
        self.setAccessibleName("Layer name")
        self.hide()
        self.returnPressed.connect(self._commit)
        view.view_changed.connect(self._follow)
        view.graph_scene.graph_changed.connect(self.close_box)
        self.installEventFilter(self)

    def open_at(self, node_id: str) -> None:
        """Shows the name of a node, selected."""
        self._view.reveal([node_id])
        self._node_id, self._group = node_id, ""
        self._open(self._view.graph_scene.name(node_id))

    def open_at_group(self, name: str) -> None:
        """Shows the name of a group, on its card or on its frame."""
        card = card_id(name)
        if card in self._view.graph_scene.nodes:
            self.open_at(card)
            return
        self._view.reveal(self._view.graph_scene.shown.full.groups[name])
        self._node_id, self._group = card, name
        self._open(name)

    def _open(self, name: str) -> None:
        self.setText(name)
        self.selectAll()
        self._follow()
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_box(self) -> None:
        """Closes without renaming."""
        if self._node_id:
            self._node_id = ""
            self.hide()
            self._view.hide_hint()
            self._view.setFocus(Qt.FocusReason.PopupFocusReason)

    def _follow(self) -> None:
        """Stays on its card."""
        scene = self._view.graph_scene
        item, frame = scene.nodes.get(self._node_id), scene.frames.get(self._group)
        rect = item.card_rect() if item is not None else None
        rect = frame.title_rect() if frame is not None else rect
        if rect is not None:
            place = self._view.mapFromScene(rect).boundingRect()
            self.setGeometry(place.x(), place.y(), max(_LEAST_WIDTH, place.width()), _HEIGHT)

    def _commit(self) -> None:
        try:
            if self.text().strip() != (self._group or self._view.graph_scene.name(self._node_id)):
                self._rename(self._node_id, self.text())
        except WorkbenchError as error:
            corner = QPointF(self.geometry().bottomLeft())
            words = f"{error.what} {error.fix}".strip()
            self._view.show_hint(words, corner, is_refusal=True)
            return
        self.close_box()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.close_box()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.close_box()
                return True
        elif event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # letters and Delete are for the name, not for the canvas
            return True
        return super().eventFilter(watched, event)
