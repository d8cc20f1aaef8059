"""What the canvas does with groups of layers, by menu, key, button and double click."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

from workbench.core.network.folding import card_id
from workbench.core.network.graph import Training
from workbench.gui.design.canvas.view import GraphView
from workbench.gui.design.rename_box import RenameBox

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
