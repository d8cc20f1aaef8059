"""Every action of the window as data."""

from __future__ import annotations

import tomllib

import msgspec
from PySide6.QtGui import QAction, QKeySequence, QUndoStack
from PySide6.QtWidgets import QWidget

from workbench.assets import resource_path
from workbench.gui.common.view_spec import ViewSpec
from workbench.gui.kit.theme import Theme
from workbench.gui.views import all_views


class ActionSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One action.

    Attributes:
        key: Stable name.
        menu: One of menus.MENUS.
        text: Words in the menu; an ellipsis at the end where a dialog follows.
        shortcuts: Key sequences in Qt's notation, the first is shown.
        icon: Name of an icon, "" for none.
        group: Actions of one menu with different groups are separated.
        tip: A sentence for the status tip and the shortcuts sheet.
        is_checkable: Shows a check mark.
    """

    key: str
    menu: str
    text: str
    shortcuts: tuple[str, ...] = ()
    icon: str = ""
    group: int = 0
    tip: str = ""
    is_checkable: bool = False


def _view_action(spec: ViewSpec) -> ActionSpec:
    return ActionSpec(
        key=spec.key,
        menu="View",
        text=spec.text,
        shortcuts=(spec.shortcut,) if spec.shortcut else (),
        icon=spec.icon,
        group=0 if spec.is_start else 1,
        tip=spec.tip,
        is_checkable=not spec.is_start,
    )


def _read_actions() -> list[ActionSpec]:
    menus = tomllib.loads(resource_path("actions.toml").read_text(encoding="utf-8"))
    found = [
        {"key": key, "menu": menu, **fields}
        for menu, actions in menus.items()
        for key, fields in actions.items()
    ]
    return [*map(_view_action, all_views().values()), *msgspec.convert(found, list[ActionSpec])]


ACTIONS = _read_actions()


def make_actions(owner: QWidget, theme: Theme, stack: QUndoStack) -> dict[str, QAction]:
    """The actions "undo" and "redo" of a stack and one for each spec; icons follow the theme."""
    actions = {
        "undo": stack.createUndoAction(owner, "Undo"),
        "redo": stack.createRedoAction(owner, "Redo"),
    }
    actions["undo"].setShortcut("Ctrl+Z")
    actions["redo"].setShortcuts([QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")])
    for key, action in actions.items():
        action.setIconText(key.title())
        action.setData(key)
    for spec in ACTIONS:
        action = QAction(spec.text, owner)
        action.setObjectName(f"action_{spec.key}")
        action.setShortcuts([QKeySequence(keys) for keys in spec.shortcuts])
        # The text may be another at the moment: "Stopping…".
        action.setIconText(spec.text.replace("&", "").rstrip("…"))
        action.setStatusTip(spec.tip)
        action.setCheckable(spec.is_checkable)
        action.setData(spec.icon)
        actions[spec.key] = action

    def draw_icons() -> None:
        for action in actions.values():
            if action.data():
                action.setIcon(theme.icon(action.data()))

    theme.changed.connect(draw_icons)
    draw_icons()
    owner.addActions(list(actions.values()))
    return actions
