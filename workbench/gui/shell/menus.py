"""The menu bar: the actions of the window, those of its views, recent projects, panels, themes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QMenuBar

from workbench.client.run_library import RunLibrary
from workbench.core.outside_text import one_line
from workbench.gui.common.window_state import WindowState
from workbench.gui.kit.theme import MODES, Theme
from workbench.gui.shell.actions import ACTIONS
from workbench.runs.library.trash import TrashedRun

MENUS = ("File", "Edit", "View", "Network", "Data", "Run", "Help")

_THEME_TITLES = {"system": "&System", "light": "&Light", "dark": "&Dark"}
_BEHIND_VIEW = {"Edit": "find", "View": "next_panel"}
"""Menu -> the action that those of a view are in front of; at the end of other menus."""


_MOST_TRASHED = 30
_TO_MINUTES = len("2026-11-27 14:05")


class Menus:
    """The menus of a bar by their titles, filled with all actions."""

    def __init__(self, bar: QMenuBar, actions: dict[str, QAction]) -> None:
        self._actions = actions
        self.by_title = {title: bar.addMenu(f"&{title}") for title in MENUS}
        self.by_title["Edit"].addActions([actions["undo"], actions["redo"]])
        self.by_title["Edit"].addSeparator()
        for title, menu in self.by_title.items():
            _fill(menu, title, actions)

    def add_actions(self, title: str, groups: Sequence[Sequence[QAction]]) -> None:
        """Adds groups of actions of a view to a menu, in front of what _BEHIND_VIEW names."""
        menu, before = self.by_title[title], self._actions.get(_BEHIND_VIEW.get(title, ""))
        for group in groups:
            if before is None:
                menu.addSeparator()
                menu.addActions(group)
            else:
                menu.insertActions(before, group)
                menu.insertSeparator(before)

    def add_submenu(
        self, title: str, text: str, before: str, fill: Callable[[QMenu], None]
    ) -> None:
        """Adds a menu, filled whenever it opens, to a menu in front of one of its actions."""
        menu = self.by_title[title]
        submenu = QMenu(text, menu)
        submenu.aboutToShow.connect(lambda: fill(submenu))
        menu.insertMenu(self._actions[before], submenu)

    def listed(self) -> list[tuple[str, list[QAction]]]:
        """The title and the actions of each menu, in order."""
        return [(title, menu.actions()) for title, menu in self.by_title.items()]


def _fill(menu: QMenu, title: str, actions: dict[str, QAction]) -> None:
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


def fill_trash(menu: QMenu, library: RunLibrary) -> None:
    """Lists the runs in the trash, the last deleted first, once the disk was looked at."""
    menu.clear()
    menu.addAction("Looking in the trash…").setEnabled(False)

    def show(runs: list[TrashedRun]) -> None:
        menu.clear()
        for run in runs[:_MOST_TRASHED]:
            when = run.deleted.replace("T", " ")[:_TO_MINUTES]
            words = one_line(f"{run.path.name}, deleted {when}").replace("&", "&&")
            menu.addAction(words).triggered.connect(partial(library.restore, run.path))
        if not runs:
            menu.addAction("No run is in the trash").setEnabled(False)

    library.look_in_trash(show)


def fill_themes(menu: QMenu, theme: Theme, choose: Callable[[str], None]) -> None:
    """Lists the themes with a mark at the chosen one."""
    menu.clear()
    group = menu.findChild(QActionGroup) or QActionGroup(menu)
    for mode in MODES:
        action = QAction(_THEME_TITLES[mode], menu)
        action.setCheckable(True)
        action.setChecked(theme.mode == mode)
        action.triggered.connect(lambda _=False, mode=mode: choose(mode))
        group.addAction(action)
        menu.addAction(action)
