"""Every action of the canvas as data; the panel connects them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from PySide6.QtCore import QMimeData, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QCursor, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from workbench.core.network.graph import Node
from workbench.core.network.roles import is_augmentation
from workbench.gui.augmentation.opening import open_augmentation
from workbench.gui.common.context import WindowContext
from workbench.gui.design.canvas.gesture import GRAPH_MIME
from workbench.gui.design.canvas.view import GraphView
from workbench.gui.kit.labels import action_tip
from workbench.gui.kit.theme import Theme

# canvas menu ---------------------------------------------------------------------------------
# The menus of the canvas: of a layer, of a connection, of the empty ground; and what it adds to
# those of the window.

LAYER = (
    "insert_before insert_after replace",
    "rename layer_help",
    "connect bypass detach fix",
    "freeze train fine_tune_from train_from",
    "group ungroup fold",
    "cut copy duplicate delete",
)
CONNECTION = ("fit_selection",)
GROUND = ("select_all arrange", "fit export_drawing")
MENUS: Mapping[str, Sequence[str]] = {
    "Edit": ("cut copy paste duplicate delete", "select_all rename"),
    "View": ("zoom_in zoom_out zoom_reset fit fit_selection",),
    "Network": (
        "add insert_before insert_after replace",
        "connect bypass detach fix",
        "freeze train fine_tune_from train_from",
        "group ungroup fold",
        "arrange export_drawing",
    ),
}
"""Menu of the window -> groups of actions. The page of a layer is in the Help menu already."""


def open_menu(
    owner: QWidget,
    actions: Mapping[str, QAction],
    own: Sequence[tuple[QAction, Callable[[], object]]],
    groups: Sequence[str],
    place: QPoint,
) -> QMenu:
    """Opens a menu at a point of the screen: entries of its own first, then groups of actions."""
    menu = QMenu(owner)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for entry, do in own:
        entry.setParent(menu)
        entry.triggered.connect(lambda _checked=False, do=do: do())
        menu.addAction(entry)
    for group in groups:
        if not menu.isEmpty():
            menu.addSeparator()
        menu.addActions([actions[key] for key in group.split()])
    menu.popup(place)
    return menu


# layer entries -------------------------------------------------------------------------------
# What the menu of some layers has more than that of others.

Entry = tuple[QAction, Callable[[], object]]


def own_entries(
    context: WindowContext, owner: QWidget, node: Node, show_maps: Callable[[str], object]
) -> Iterator[Entry]:
    """Entries for the selected layer, with what they do.

    Args:
        context: The parts of the window.
        owner: Parent of the dialogs that entries open.
        node: The layer.
        show_maps: Shows the feature maps of the layer of a name.
    """
    if is_augmentation(context.layers.get(node.kind)):
        preview = QAction(context.theme.icon("eye"), "Pre&view augmentation…")
        yield preview, lambda: open_augmentation(context, owner, node.id)
    if context.library.has_own_model:
        maps = QAction(context.theme.icon("grid"), "Show feature ma&ps")
        yield maps, lambda: show_maps(node.name)


# node edits ----------------------------------------------------------------------------------
# What the canvas does with whole cards: cut, copy, paste, duplicate, delete, bypass.

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


# canvas actions ------------------------------------------------------------------------------


@dataclass(frozen=True)
class CanvasActionSpec:
    """One action of the canvas.

    Attributes:
        key: Stable name, and that of its icon where `icon` is "".
        text: Words in menus.
        shortcuts: Key sequences with spaces between them, the first is shown.
        tip: A sentence for the status tip.
        needs: What must be there: "" nothing, "nodes", "selection", "layers" that are
            selected, of which one is "weighted" where it has weights, "problem"; one selected
            "layer", that is "one" of several, is "linked", or takes a layer before it: it
            is "feedable", or is "grouped" with others; a "group" that any selected one belongs
            to; "named" is a layer or a group that is selected alone.
        icon: Name of an icon.
    """

    key: str
    text: str
    shortcuts: str
    tip: str
    needs: str = ""
    icon: str = ""


_ROWS = (
    ("add", "&Add layer…", "A Ins", "Searches for a layer to add after the selected one."),
    ("cut", "Cu&t", "Ctrl+X", "Cuts the selected layers.", "layers"),
    ("copy", "&Copy", "Ctrl+C", "Copies the selected layers.", "layers"),
    ("paste", "&Paste", "Ctrl+V", "Pastes the copied layers."),
    ("duplicate", "D&uplicate", "Ctrl+D", "Duplicates the selected layers.", "layers"),
    (
        "delete",
        "&Delete",
        "Del Backspace",
        "Removes the selected layers and connections.",
        "selection",
    ),
    ("select_all", "S&elect all", "Ctrl+A", "Selects all layers.", "nodes"),
    (
        "connect",
        "Co&nnect…",
        "C",
        "Connects or disconnects the selected layer: choose with the arrows, confirm with Enter.",
        "one",
    ),
    ("fix", "Fi&x problem…", "Ctrl+.", "Shows the fixes for the problem.", "problem", "check"),
    ("rename", "Rena&me…", "F2", "Renames the selected layer or group.", "named"),
    ("group", "&Group", "Ctrl+G", "Makes the selected layers a group.", "layers"),
    (
        "ungroup",
        "&Ungroup",
        "Ctrl+Shift+G",
        "Makes the layers of the selected group layers on their own.",
        "group",
    ),
    (
        "fold",
        "Fold or &open group",
        "O",
        "Shows the selected layer's group as one card, or shows its layers.",
        "group",
    ),
    (
        "freeze",
        "Free&ze layers",
        "",
        "The selected layers keep their weights.",
        "weighted",
        "frozen",
    ),
    (
        "train",
        "&Train layers",
        "",
        "The selected layers are trained from the first epoch on.",
        "weighted",
    ),
    (
        "fine_tune_from",
        "F&ine-tune from here on",
        "",
        "This layer and those behind it in its group learn in fine-tuning only; the others never.",
        "grouped",
        "fine_tuning",
    ),
    (
        "train_from",
        "Train from h&ere on",
        "",
        "This layer and those behind it are trained from the first epoch on; the others never.",
        "layer",
        "train",
    ),
    (
        "replace",
        "Replace &with…",
        "",
        "Replaces the selected layer with another type; its connections are kept.",
        "layer",
    ),
    (
        "insert_before",
        "Insert &before…",
        "",
        "Searches for a layer to insert right before the selected one.",
        "feedable",
    ),
    (
        "insert_after",
        "Insert a&fter…",
        "",
        "Searches for a layer to insert between the selected one and all its outputs.",
        "layer",
    ),
    (
        "bypass",
        "B&ypass",
        "",
        "Removes the layer and connects its first input to all its outputs.",
        "linked",
    ),
    (
        "detach",
        "Detac&h",
        "",
        "Disconnects the layer, closes the gap, and moves the layer aside.",
        "linked",
    ),
    ("layer_help", "Help on this &layer", "", "Opens the page of this layer.", "layer", "help"),
    ("arrange", "A&rrange", "Ctrl+L", "Arranges all layers from top to bottom.", "nodes"),
    (
        "export_drawing",
        "Export &drawing…",
        "",
        "Writes the drawing of the network as PNG or SVG.",
        "nodes",
        "export",
    ),
    ("zoom_in", "Zoom &in", "Ctrl++ Ctrl+=", "Enlarges the view."),
    ("zoom_out", "Zoo&m out", "Ctrl+-", "Shrinks the view."),
    ("zoom_reset", "Zoom to &100%", "Ctrl+0 Ctrl+Alt+0", "Shows the default size."),
    ("fit", "Fit", "F Shift+1 Home", "Fits the whole network into the view.", "nodes"),
    (
        "fit_selection",
        "Fit &selection",
        "Shift+2",
        "Fits the selected layers into the view.",
        "selection",
        "fit",
    ),
)
CANVAS_ACTIONS = tuple(CanvasActionSpec(*row) for row in _ROWS)


def make_canvas_actions(
    owner: QWidget, theme: Theme, slots: Mapping[str, Callable[[], None]]
) -> dict[str, QAction]:
    """A QAction for each spec, connected to the slot of the same key.

    Shortcuts work while the keyboard is in `owner`: single letters are for the canvas only.
    """
    actions: dict[str, QAction] = {}
    for spec in CANVAS_ACTIONS:
        action = QAction(spec.text, owner)
        action.setObjectName(f"canvas_{spec.key}")
        action.setShortcuts([QKeySequence(keys) for keys in spec.shortcuts.split()])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.setToolTip(action_tip(action))
        action.setStatusTip(spec.tip)
        action.triggered.connect(lambda _checked=False, slot=slots[spec.key]: slot())
        owner.addAction(action)
        actions[spec.key] = action
    refresh_canvas_icons(actions, theme)
    return actions


def refresh_canvas_icons(actions: Mapping[str, QAction], theme: Theme) -> None:
    """Draws all icons in the theme's color."""
    for spec in CANVAS_ACTIONS:
        actions[spec.key].setIcon(theme.icon(spec.icon or spec.key))
