"""Every action of the canvas as data; the panel connects them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from workbench.gui.kit.theme import Theme


@dataclass(frozen=True)
class CanvasActionSpec:
    """One action of the canvas.

    Attributes:
        key: Stable name.
        text: Words in menus.
        shortcuts: Key sequences, the first is shown.
        icon: Name of an icon, "" for none.
        tip: A sentence for the status tip.
        needs: What must be there: "" nothing, "nodes", "selection", "one", "problem".
    """

    key: str
    text: str
    shortcuts: tuple[str, ...]
    icon: str
    tip: str
    needs: str = ""


CANVAS_ACTIONS: tuple[CanvasActionSpec, ...] = (
    CanvasActionSpec(
        "add",
        "&Add layer…",
        ("A", "Ins"),
        "add",
        "Searches for a layer to add after the selected one.",
    ),
    CanvasActionSpec("cut", "Cu&t", ("Ctrl+X",), "cut", "Cuts the selected layers.", "selection"),
    CanvasActionSpec(
        "copy", "&Copy", ("Ctrl+C",), "copy", "Copies the selected layers.", "selection"
    ),
    CanvasActionSpec("paste", "&Paste", ("Ctrl+V",), "paste", "Pastes the copied layers."),
    CanvasActionSpec(
        "duplicate",
        "D&uplicate",
        ("Ctrl+D",),
        "duplicate",
        "Duplicates the selected layers.",
        "selection",
    ),
    CanvasActionSpec(
        "delete",
        "&Delete",
        ("Del", "Backspace"),
        "delete",
        "Removes the selected layers and connections.",
        "selection",
    ),
    CanvasActionSpec(
        "select_all", "Select &all", ("Ctrl+A",), "select_all", "Selects all layers.", "nodes"
    ),
    CanvasActionSpec(
        "connect",
        "Co&nnect…",
        ("C",),
        "connect",
        "Connects or disconnects the selected layer: choose with the arrows, confirm with Enter.",
        "one",
    ),
    CanvasActionSpec(
        "fix", "Fi&x problem…", ("Ctrl+.",), "check", "Shows the fixes for the problem.", "problem"
    ),
    CanvasActionSpec(
        "arrange",
        "A&rrange",
        ("Ctrl+L",),
        "arrange",
        "Arranges all layers from top to bottom.",
        "nodes",
    ),
    CanvasActionSpec("zoom_in", "Zoom &in", ("Ctrl++", "Ctrl+="), "zoom_in", "Enlarges the view."),
    CanvasActionSpec("zoom_out", "Zoom &out", ("Ctrl+-",), "zoom_out", "Shrinks the view."),
    CanvasActionSpec(
        "zoom_reset", "Zoom to &100%", ("Ctrl+Alt+0",), "zoom_reset", "Shows the default size."
    ),
    CanvasActionSpec("fit", "&Fit", ("F", "Ctrl+0"), "fit", "Shows the whole network.", "nodes"),
)


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
        action.setShortcuts([QKeySequence(keys) for keys in spec.shortcuts])
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        action.setStatusTip(spec.tip)
        action.triggered.connect(lambda _checked=False, slot=slots[spec.key]: slot())
        owner.addAction(action)
        actions[spec.key] = action
    refresh_canvas_icons(actions, theme)
    return actions


def refresh_canvas_icons(actions: Mapping[str, QAction], theme: Theme) -> None:
    """Draws all icons in the theme's color."""
    for spec in CANVAS_ACTIONS:
        if spec.icon:
            actions[spec.key].setIcon(theme.icon(spec.icon))
