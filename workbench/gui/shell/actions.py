"""Every action of the window as data."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec
from PySide6.QtCore import QProcess
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QUndoStack
from PySide6.QtWidgets import QMainWindow, QMenu, QMenuBar, QWidget

from workbench.assets import resource_path
from workbench.client.run_library import RunLibrary
from workbench.core.outside_text import one_line
from workbench.gui.augmentation.opening import open_augmentation
from workbench.gui.common.context import WindowState
from workbench.gui.common.model_chooser import ModelChooser
from workbench.gui.common.view_spec import ViewSpec, WindowServices
from workbench.gui.files.controller import FileController
from workbench.gui.files.opening import BundleController
from workbench.gui.help import HelpController
from workbench.gui.kit.dialogs import open_folder
from workbench.gui.kit.theme import MODES, Theme
from workbench.gui.shell.view_stack import Layouts, ViewStack, focus_next_panel
from workbench.gui.targets.controller import DIALOGS, NotebookController, TargetController
from workbench.gui.train.run_controller import RunController
from workbench.gui.views import all_views, project_views
from workbench.runs.home import data_home
from workbench.runs.library.trash import TrashedRun

if TYPE_CHECKING:
    from workbench.gui.data.view import DataView
    from workbench.gui.design.view import DesignView
    from workbench.gui.train.view import TrainView


# action handlers -----------------------------------------------------------------------------
# What each action of the window does.

_HELP_PAGES = {
    "getting_started": "getting_started",
    "tpu_help": "tpu",
    "remote_help": "remote",
}
"""Actions of the Help menu -> the pages they open."""
_STEPS = {"next_view": 1, "previous_view": -1}
_ASKED: dict[str, tuple[str, str] | tuple[str, str, bool | str]] = {
    "search": ("design", "search_asked"),
    "find": ("design", "find_asked"),
    "browse_images": ("data", "browse_asked"),
    "check_images": ("data", "check_asked", False),
    "check_labels": ("data", "check_asked", True),
    "find_rate": ("train", "find_asked", "learning_rate"),
    "find_batch": ("train", "find_asked", "batch_size"),
    "cross_validate": ("train", "series_asked", "cross_validation"),
    "compare_runs": ("train", "compare_asked"),
    "sweep": ("train", "series_asked", "sweep"),
}
"""Action -> the view that does it, the signal of its state, and what the signal carries."""


@dataclass(frozen=True)
class WindowParts:
    """What actions work with, see `WindowServices` for what views get of it.

    Attributes:
        window: The window itself.
        show_problems: Opens the list of problems.
    """

    window: QMainWindow
    services: WindowServices
    files: FileController
    bundles: BundleController
    runs: RunController
    places: TargetController
    notebooks: NotebookController
    layouts: Layouts
    help: HelpController
    views: ViewStack
    show_problems: Callable[[], None]


class ActionHandlers:
    """The parts of a window put to work by its actions."""

    def __init__(self, parts: WindowParts) -> None:
        self._parts = parts
        self._services, self._context = parts.services, parts.services.context

    def connect(self, actions: Mapping[str, QAction]) -> None:
        """Lets each action, by its key, do its work."""
        self._parts.help.restart_asked.connect(self._restart)
        for key, handler in self.by_key().items():
            actions[key].triggered.connect(lambda _=False, handler=handler: handler())

    def by_key(self) -> dict[str, Callable[[], object]]:
        """What each action does, by its key."""
        parts, services, context = self._parts, self._services, self._context
        return {
            **{key: partial(services.show_view, key) for key in all_views()},
            **{key: partial(parts.places.ask, key) for key in DIALOGS},
            **{key: partial(parts.help.show_page, page) for key, page in _HELP_PAGES.items()},
            "new": parts.files.new,
            "new_window": self._new_window,
            "open": parts.files.ask_open,
            "save": parts.files.save,
            "save_as": parts.files.save_as,
            "bundle": parts.bundles.ask_save,
            "revert": parts.files.revert,
            "augmentation": partial(open_augmentation, context, parts.window),
            "load_weights": partial(context.weights.ask, parts.window),
            "export": lambda: parts.runs.ask_export(self._shown_run()),
            "export_network": parts.notebooks.ask_network,
            "export_notebook": parts.notebooks.ask_export,
            "read_result": parts.notebooks.ask_result,
            "close": self._close_project,
            "quit": parts.window.close,
            "settings": parts.help.show_settings,
            **{key: partial(self._ask_view, *asked) for key, asked in _ASKED.items()},
            "next_panel": lambda: focus_next_panel(parts.views.currentWidget()),
            **{key: partial(self._step_view, by) for key, by in _STEPS.items()},
            "side_panels": lambda: parts.layouts.toggle_sides(parts.views.currentWidget()),
            "reset_layout": parts.layouts.reset,
            "full_screen": self._full_screen,
            "start_run": parts.runs.start,
            "pause_run": parts.runs.pause,
            "stop_run": parts.runs.stop,
            "report": lambda: parts.runs.ask_report(self._shown_run()),
            "show_problems": parts.show_problems,
            "open_runs": lambda: self.open_path(str(context.library.home)),
            "layer_help": self._layer_help,
            "shortcuts": services.show_shortcuts,
            "open_log": lambda: self.open_path(str(data_home())),
            "about": parts.help.show_about,
        }

    def _restart(self) -> None:
        """Another window of the project takes the place of this one, unless it stays open: it asks
        about what is not saved.
        """
        if self._parts.window.close():
            path = self._context.document.path
            self._new_window(*([str(path)] if path is not None else []))

    def _new_window(self, *project: str) -> None:
        """A window is a process of its own; it opens a project, if one is named."""
        arguments = ["-P", "-m", "workbench", "gui", *project]
        if not QProcess.startDetached(sys.executable, arguments)[0]:
            self._services.say("No other window was started: the system starts no process now.")

    def open_path(self, path: str) -> None:
        """Opens a folder in the file manager."""
        open_folder(self._parts.window, Path(path), "The folder")

    def _ask_view(self, key: str, signal: str, *values: object) -> None:
        """Brings a view to the front and emits a signal of what its panels share."""
        view = cast("DesignView | DataView | TrainView", self._services.show_view(key))
        getattr(view.state, signal).emit(*values)

    def _shown_run(self) -> Path | None:
        """The run that the view in front is about: Evaluate and Classify have their own choice."""
        chooser = getattr(self._parts.views.currentWidget(), "chooser", None)
        return chooser.path if isinstance(chooser, ModelChooser) else None

    def _step_view(self, step: int) -> None:
        """Shows the next view of the switch, or the one before it; all around."""
        keys = [spec.key for spec in project_views()]
        here = self._parts.views.current_key
        at = keys.index(here) if here in keys else min(0, -step)
        self._services.show_view(keys[(at + step) % len(keys)])

    def _close_project(self) -> None:
        if all_views()[self._parts.views.current_key].is_start:
            self._parts.window.close()
        elif self._parts.files.close():
            self._services.show_view("welcome")

    def _layer_help(self) -> None:
        """Opens the page of the selected layers' type, else the overview."""
        selected: list[str] = []
        if self._parts.views.current_key == "design":
            scene = cast("DesignView", self._parts.views.currentWidget()).canvas.scene
            selected = list(scene.shown.layers_of(scene.selected_ids()))
        nodes = self._context.document.graph.nodes
        self._parts.help.show_layer({nodes[node].kind for node in selected})

    def _full_screen(self) -> None:
        if self._parts.window.isFullScreen():
            self._parts.window.showNormal()
        else:
            self._parts.window.showFullScreen()


# actions -------------------------------------------------------------------------------------


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


# menus ---------------------------------------------------------------------------------------
# The menu bar: the actions of the window, those of its views, recent projects, panels, themes.

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
