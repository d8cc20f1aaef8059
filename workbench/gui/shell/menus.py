"""Menus that are filled from what there is: recent projects, themes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from workbench.gui.common.window_state import WindowState
from workbench.gui.kit.theme import MODES, Theme

_THEME_TITLES = {"system": "&System", "light": "&Light", "dark": "&Dark"}


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
