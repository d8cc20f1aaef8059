"""Every action of the window as data, and the menus: of these, of recent projects, of themes."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QUndoStack
from PySide6.QtWidgets import QMenu, QWidget

from workbench.assets import resource_path
from workbench.gui.common.view_spec import ViewSpec
from workbench.gui.common.window_state import WindowState
from workbench.gui.kit.theme import MODES, Theme
from workbench.gui.views import all_views

_THEME_TITLES = {"system": "&System", "light": "&Light", "dark": "&Dark"}

MENUS = ("File", "Edit", "View", "Network", "Data", "Run", "Help")


class ActionSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One action.

    Attributes:
        key: Stable name.
        menu: One of MENUS.
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


def fill_menu(menu: QMenu, title: str, actions: dict[str, QAction]) -> None:
    """Puts the actions of one menu into it, with a line between groups."""
    group: int | None = None
    for spec in ACTIONS:
        if spec.menu != title:
            continue
        if group is not None and spec.group != group:
            menu.addSeparator()
        group = spec.group
        menu.addAction(actions[spec.key])


def fill_recent(menu: QMenu, state: WindowState, open_path: Callable[[str], object]) -> None:
    """Lists the recent projects; those that are gone are grayed."""
    menu.clear()
    paths = state.recent()
    for path in paths:
        action = QAction(path.replace("&", "&&"), menu)
        action.setEnabled(Path(path).is_file())
        action.triggered.connect(lambda _=False, path=path: open_path(path))
        menu.addAction(action)
    if not paths:
        menu.addAction("No recent projects").setEnabled(False)
        return
    menu.addSeparator()
    menu.addAction("Clear list").triggered.connect(state.clear_recent)


def fill_themes(
    menu: QMenu, group: QActionGroup, theme: Theme, choose: Callable[[str], None]
) -> None:
    """Lists the themes with a mark at the chosen one."""
    menu.clear()
    for mode in MODES:
        action = QAction(_THEME_TITLES[mode], menu)
        action.setCheckable(True)
        action.setChecked(theme.mode == mode)
        action.triggered.connect(lambda _=False, mode=mode: choose(mode))
        group.addAction(action)
        menu.addAction(action)
