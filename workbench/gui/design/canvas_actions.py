"""Every action of the canvas as data; the panel connects them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from workbench.gui.kit.labels import action_tip
from workbench.gui.kit.theme import Theme


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
