"""Every action of the window as data: menus, shortcuts and the shortcuts sheet read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from workbench.gui.kit.theme import Theme

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


VIEW_KEYS = ("design", "data", "train", "evaluate", "classify")

ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("new", "File", "&New project", ("Ctrl+N",), "new", 0, "Starts with nothing."),
    ActionSpec("open", "File", "&Open…", ("Ctrl+O",), "open", 0, "Opens a project file."),
    ActionSpec("save", "File", "&Save", ("Ctrl+S",), "save", 1, "Writes the project file."),
    ActionSpec("save_as", "File", "Save &as…", ("Ctrl+Shift+S",), "", 1, "Writes another file."),
    ActionSpec("revert", "File", "&Revert", (), "revert", 1, "Goes back to the saved file."),
    ActionSpec(
        "load_weights", "File", "&Load weights…", (), "import", 2,
        "Makes a run of this network out of a weights file.",
    ),
    ActionSpec(
        "export", "File", "&Export the run…", ("Ctrl+E",), "export", 2,
        "Writes the trained network for use elsewhere.",
    ),
    ActionSpec(
        "export_notebook", "File", "Train on &Colab or Kaggle…", (), "", 3,
        "Writes a notebook that trains this project on a TPU there.",
    ),
    ActionSpec(
        "read_result", "File", "Read &back results…", (), "", 3,
        "Makes a run out of the file that such a notebook has left.",
    ),
    ActionSpec("quit", "File", "&Quit", ("Ctrl+Q",), "quit", 4, "Closes the window."),
    ActionSpec(
        "settings", "Edit", "Se&ttings…", ("Ctrl+,",), "settings", 9,
        "What the application does, for all projects.",
    ),
    ActionSpec("welcome", "View", "&Welcome page", (), "template", 0, "Templates to start from."),
    ActionSpec("design", "View", "&Design", ("Ctrl+1",), "arrange", 1, "The network.", True),
    ActionSpec("data", "View", "D&ata", ("Ctrl+2",), "pictures", 1, "The pictures.", True),
    ActionSpec("train", "View", "&Train", ("Ctrl+3",), "chart", 1, "The runs, live.", True),
    ActionSpec("evaluate", "View", "&Evaluate", ("Ctrl+4",), "target", 1, "How good it is.", True),
    ActionSpec("classify", "View", "&Classify", ("Ctrl+5",), "picture", 1, "Try pictures.", True),
    ActionSpec("search", "View", "&Find a layer", ("Ctrl+K", "Ctrl+F"), "search", 2, "Palette."),
    ActionSpec("next_panel", "View", "Next pa&nel", ("F6",), "panels", 2, "Moves the focus."),
    ActionSpec("reset_layout", "View", "&Reset layout", (), "", 3, "Panels as at the start."),
    ActionSpec("full_screen", "View", "F&ull screen", ("F11",), "fit", 4, "Or back.", True),
    ActionSpec("start_run", "Run", "&Train", ("F5", "Ctrl+R"), "train", 0, "Starts a run."),
    ActionSpec("pause_run", "Run", "&Pause", ("Ctrl+F5",), "pause", 0, "To be resumed later."),
    ActionSpec("stop_run", "Run", "&Stop", ("Shift+F5",), "stop", 0, "Ends it, keeps weights."),
    ActionSpec("show_problems", "Run", "Show &problems", ("F8",), "warning", 1, "All findings."),
    ActionSpec(
        "connect", "Run", "&Connect a TPU or another computer…", (), "", 1,
        "Trains there over your own ssh.",
    ),
    ActionSpec(
        "preflight", "Run", "&Will it train on a TPU?…", (), "", 1,
        "Looks at the project as a TPU would, with none at hand.",
    ),
    ActionSpec(
        "agreement", "Run", "Co&mpare two places to train…", (), "", 1,
        "Trains the first steps on both and says how far they are apart.",
    ),
    ActionSpec("open_runs", "Run", "Open the &folder of runs", (), "folder", 2, "Files of runs."),
    ActionSpec("getting_started", "Help", "&Getting started", (), "help", 0, "The first steps."),
    ActionSpec("tpu_help", "Help", "Training on a &TPU", (), "", 0, "What to rent, what to know."),
    ActionSpec(
        "remote_help", "Help", "Training on another &computer", (), "", 0,
        "Over your own ssh, and what happens when the line is cut.",
    ),
    ActionSpec("layer_help", "Help", "&Layers", ("Shift+F1",), "grid", 0, "A page per layer."),
    ActionSpec("shortcuts", "Help", "&Keyboard shortcuts", ("F1", "?"), "keyboard", 0, "All keys."),
    ActionSpec("open_log", "Help", "Open the lo&g", (), "log", 1, "What the application noted."),
    ActionSpec("about", "Help", "&About Workbench", (), "info", 2, "Versions, system, licence."),
)  # fmt: skip


def make_actions(
    owner: QWidget, theme: Theme, specs: Iterable[ActionSpec] = ACTIONS
) -> dict[str, QAction]:
    """A QAction for each spec, owned by `owner`; icons follow the theme."""
    actions: dict[str, QAction] = {}
    for spec in specs:
        action = QAction(spec.text, owner)
        action.setObjectName(f"action_{spec.key}")
        action.setShortcuts([QKeySequence(keys) for keys in spec.shortcuts])
        action.setStatusTip(spec.tip)
        action.setCheckable(spec.is_checkable)
        action.setData(spec.icon)
        actions[spec.key] = action
    refresh_icons(actions, theme)
    owner.addActions(list(actions.values()))
    return actions


def refresh_icons(actions: dict[str, QAction], theme: Theme) -> None:
    """Draws the icons of all actions in the theme's colour."""
    for action in actions.values():
        if action.data():
            action.setIcon(theme.icon(action.data()))


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
