"""Every action of the window as data, and the menus: of these, of recent projects, of themes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QUndoStack
from PySide6.QtWidgets import QMenu, QWidget

from workbench.gui.common.view_spec import ViewSpec
from workbench.gui.common.window_state import WindowState
from workbench.gui.kit.theme import MODES, Theme
from workbench.gui.views import all_views

_THEME_TITLES = {"system": "&System", "light": "&Light", "dark": "&Dark"}

MENUS = ("File", "Edit", "View", "Run", "Help")


@dataclass(frozen=True)
class ActionSpec:
    """One action.

    Attributes:
        key: Stable name.
        menu: One of MENUS.
        text: Words in the menu; an ellipsis at the end where a dialog follows.
        shortcuts: Key sequences in Qt's notation, the first is shown.
        icon: Name of an icon, "" for none.
        group: Actions of one menu with different groups stand apart.
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


ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("new", "File", "&New project", ("Ctrl+N",), "new", 0, "Starts an empty project."),
    ActionSpec("open", "File", "&Open…", ("Ctrl+O",), "open", 0, "Opens a project file."),
    ActionSpec("save", "File", "&Save", ("Ctrl+S",), "save", 1, "Saves the project file."),
    ActionSpec("save_as", "File", "Save &as…", ("Ctrl+Shift+S",), "", 1, "Saves to another file."),
    ActionSpec("revert", "File", "&Revert", (), "revert", 1, "Returns to the last saved version."),
    ActionSpec(
        "load_weights", "File", "&Load weights…", (), "import", 2,
        "Creates a run of this network from a weights file.",
    ),
    ActionSpec(
        "export", "File", "&Export trained model…", ("Ctrl+E",), "export", 2,
        "Writes the trained model for use elsewhere.",
    ),
    ActionSpec(
        "export_notebook", "File", "Train on &Colab or Kaggle…", (), "", 3,
        "Writes a notebook that trains this project on a TPU there.",
    ),
    ActionSpec(
        "read_result", "File", "Import note&book results…", (), "", 3,
        "Creates a run from the results of such a notebook.",
    ),
    ActionSpec("quit", "File", "&Quit", ("Ctrl+Q",), "quit", 4, "Closes the window."),
    ActionSpec(
        "settings", "Edit", "Se&ttings…", ("Ctrl+,",), "settings", 9,
        "Settings of the application, for all projects.",
    ),
    *map(_view_action, all_views().values()),
    ActionSpec("search", "View", "&Find a layer", ("Ctrl+K", "Ctrl+F"), "search", 2, "Palette."),
    ActionSpec("next_panel", "View", "Next pa&nel", ("F6",), "panels", 2, "Moves the focus."),
    ActionSpec("reset_layout", "View", "&Reset layout", (), "", 3, "Default panels."),
    ActionSpec("full_screen", "View", "F&ull screen", ("F11",), "fit", 4, "On or off.", True),
    ActionSpec("start_run", "Run", "&Train", ("F5", "Ctrl+R"), "train", 0, "Starts a run."),
    ActionSpec("pause_run", "Run", "&Pause", ("Ctrl+F5",), "pause", 0, "Can be resumed."),
    ActionSpec("stop_run", "Run", "&Stop", ("Shift+F5",), "stop", 0, "Saves the weights."),
    ActionSpec("show_problems", "Run", "Show &problems", ("F8",), "warning", 1, "All problems."),
    ActionSpec(
        "connect", "Run", "&Connect a TPU or another computer…", (), "", 1,
        "Trains there over SSH.",
    ),
    ActionSpec(
        "preflight", "Run", "&Will it train on a TPU?…", (), "", 1,
        "Checks the project for a TPU, without needing one.",
    ),
    ActionSpec(
        "agreement", "Run", "Co&mpare two targets…", (), "", 1,
        "Trains the first steps on both and shows the differences.",
    ),
    ActionSpec("open_runs", "Run", "Open the runs &folder", (), "folder", 2, "Run files."),
    ActionSpec("getting_started", "Help", "&Getting started", (), "help", 0, "The first steps."),
    ActionSpec("tpu_help", "Help", "Training on a &TPU", (), "", 0, "What to rent and to know."),
    ActionSpec(
        "remote_help", "Help", "Training on another &computer", (), "", 0,
        "Over SSH, and what happens when the connection is lost.",
    ),
    ActionSpec("layer_help", "Help", "&Layers", ("Shift+F1",), "grid", 0, "A page per layer."),
    ActionSpec("shortcuts", "Help", "&Keyboard shortcuts", ("F1", "?"), "keyboard", 0, "All keys."),
    ActionSpec("open_log", "Help", "Open the lo&g", (), "log", 1, "The application's log."),
    ActionSpec("about", "Help", "&About Workbench", (), "info", 2, "Versions, system, license."),
)  # fmt: skip


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
