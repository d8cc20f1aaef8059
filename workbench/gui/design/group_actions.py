"""What the canvas does with groups of layers, by menu, key, button and double click."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit

from workbench.core.network.folding import card_id
from workbench.core.network.graph import Training
from workbench.errors import WorkbenchError
from workbench.gui.design.canvas.view import GraphView

# rename box ----------------------------------------------------------------------------------
# A field over a card in which its name is edited: Enter renames, Escape gives up.

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


# group actions -------------------------------------------------------------------------------

Edit = Callable[[Callable[[], object]], object]


class GroupActions(QObject):
    """Groups, ungroups, folds and opens what is selected.

    `edit` runs a change of the document and shows a reason for refusal.
    """

    def __init__(self, view: GraphView, rename_box: RenameBox, edit: Edit) -> None:
        super().__init__(view)
        self._view, self._rename_box, self._edit = view, rename_box, edit
        self._scene = view.graph_scene
        self._document = view.graph_scene.document
        view.group_toggled.connect(self.toggle)

    @property
    def slots(self) -> dict[str, Callable[[], None]]:
        """What each action of groups does."""
        return {
            "group": self.group,
            "ungroup": self.ungroup,
            "fold": self._toggle_selected,
            "freeze": lambda: self._set_training("never"),
            "train": lambda: self._set_training("always"),
            "fine_tune_from": lambda: self._train_from("fine_tuning"),
            "train_from": lambda: self._train_from("always"),
        }

    def _set_training(self, training: Training) -> None:
        if ids := self._scene.selected_ids():
            self._edit(lambda: self._document.set_training(ids, training))

    def _train_from(self, training: Training) -> None:
        selected = self._scene.selected_ids()
        if len(selected) == 1:
            self._edit(lambda: self._document.train_from(selected[0], training))

    def group(self) -> None:
        """Makes the selected layers a group, and asks for its name."""
        ids = self._scene.selected_ids()
        if ids:
            self._edit(lambda: self._rename_new(self._document.group(ids)))

    def _rename_new(self, name: str) -> None:
        self._scene.select(self._document.graph.groups[name])
        self._rename_box.open_at_group(name)

    def ungroup(self) -> None:
        """Dissolves the groups of the selected layers."""
        names = self.selected_names()
        layers = self._scene.shown.layers_of(self._scene.selected_ids())
        if names:
            self._edit(lambda: self._document.ungroup(*names))
            self._scene.select(layers)

    def toggle(self, name: str) -> None:
        """Opens a folded group, or folds an open one."""
        if card_id(name) in self._scene.shown.members:
            self.open(name)
        else:
            self._edit(lambda: self._fold(name))

    def open(self, *names: str) -> None:
        """Shows the layers of groups; soon the first of them is selected and in view."""
        with self._scene.batch():
            self._document.open_group(*names)
        first = [self._document.graph.groups[name][0] for name in names]
        self._show_soon(first)

    def _fold(self, name: str) -> None:
        with self._scene.batch():
            self._document.fold(name)
        self._show_soon([card_id(name)])

    def _show_soon(self, ids: list[str]) -> None:
        """Selects the first of these cards and shows all, in the next turn of the event loop: a
        hundred cards that come or go fill this one.
        """

        def show() -> None:
            there = [key for key in ids if key in self._scene.nodes]
            self._scene.select(there[:1])
            if there:
                self._view.reveal(there)

        QTimer.singleShot(0, self, show)

    def _toggle_selected(self) -> None:
        for name in self.selected_names()[:1]:
            self.toggle(name)

    def selected_names(self) -> list[str]:
        """The groups that any selected layer belongs to."""
        nodes = self._scene.graph.nodes
        selected = (nodes[key].group for key in self._scene.selected_ids() if key in nodes)
        return [name for name in dict.fromkeys(selected) if name]

    def uncover(self, node_id: str) -> None:
        """Opens the folded group that a layer is in, if it is in one."""
        if node_id in self._scene.shown.card_of:
            self._document.open_group(self._document.graph.nodes[node_id].group)
