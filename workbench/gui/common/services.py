"""What the window does for its views: no view knows the window itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from workbench.core.projects.project import Project
from workbench.gui.common.context import WindowContext
from workbench.gui.common.window_state import WindowState


@dataclass(frozen=True, kw_only=True)
class WindowServices:
    """The parts of the application, and what the window does with them.

    Attributes:
        context: The parts that all views work with.
        state: Recent projects, and places of panels.
        show_view: Brings the view of a key to the front.
        say: Shows a sentence in the status line for a while.
        new_project: Starts a project; an empty one for None.
        open_project: Opens a project file.
        start_from_folder: Starts a project that fits a folder of pictures.
        counting: Signal with a sentence while the pictures of that folder are counted, then "".
        train: Starts a run of the project.
        ask_target: Opens a dialog about places to train, see gui.targets.menu.ASKS.
        show_help: Shows a help page by its key.
        show_shortcuts: Shows the keyboard shortcuts.
        add_actions: Adds actions to the Edit menu (first list) and to the View menu (second).
    """

    context: WindowContext
    state: WindowState
    show_view: Callable[[str], QWidget]
    say: Callable[[str], None]
    new_project: Callable[[Project | None], bool]
    open_project: Callable[[str], bool]
    start_from_folder: Callable[[str], None]
    counting: SignalInstance
    train: Callable[[], None]
    ask_target: Callable[[str], None]
    show_help: Callable[[str], None]
    show_shortcuts: Callable[[], None]
    add_actions: Callable[[list[QAction], list[QAction]], None]
