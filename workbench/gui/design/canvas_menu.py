"""The menus of the canvas: of a layer, of a connection, of the empty ground; and what it adds to
those of the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

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
