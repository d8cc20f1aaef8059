"""What a file of `views/` declares, and what its view is handed: no view imports the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast

from PySide6.QtCore import SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from workbench.core.projects.project import Choice, Project
from workbench.gui.common.context import WindowContext, WindowState

# panel spec ----------------------------------------------------------------------------------
# What a file of `panels/` declares.

S = TypeVar("S")

Area = Literal["top", "left", "right", "bottom"]
Waits = Literal["", "picture", "list"]


@dataclass(frozen=True, kw_only=True)
class PanelSpec(Generic[S]):
    """One panel of a view; `S` is the type of what the panels of that view share.

    Attributes:
        key: Name of the file, under which its place is stored; never changes.
        view: Key of the view.
        title: Title of its dock, and its words in View > Panels.
        area: Where it is at first: a side of a view with docks, else a column; "top" is above a
            column. A view of
            one column has all its panels below each other.
        order: Lower comes first: further up, and in the menu.
        make: Imports the code of the panel, which is not needed before its view, and
            makes the panel from what the panels share, e.g. an EvaluateState; see `imported`.
        width_px, height_px: Size of its dock at first; 0 leaves it to Qt.
        stretch: In a column: its part of the room that is left; 0 takes none.
        opened_by: Signals of what the panels share that show it, should it be closed: a command
            that leads to a panel opens it.
        waits: In a column: what it shows; it is hidden while the view has none of it.
    """

    key: str
    view: str
    title: str
    area: Area
    order: int
    make: Callable[[S], QWidget]
    width_px: int = 0
    height_px: int = 0
    stretch: int = 0
    opened_by: tuple[str, ...] = ()
    waits: Waits = ""


def imported(module: str, name: str) -> Callable[[Any], QWidget]:
    """Makes the panel of a class that is imported with the first such panel."""
    return lambda shared: cast("QWidget", getattr(import_module(module), name)(shared))


# view spec -----------------------------------------------------------------------------------


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
        open_run: Opens the project of the run in a folder, with that run.
        start_from_data: Starts a project that fits the images of a data set.
        cancel_start: Calls that off while the images are counted.
        counting: Signal with a sentence while the images are counted, then "".
        train_again: Starts one from the weights of the run in a folder.
        ask_target: Opens a dialog about places to train, see gui.targets.controller.DIALOGS.
        hosts_changed: Signal: a computer was saved, renamed or forgotten.
        leave_start: Goes back from the welcome page to the project.
        project_name: What the open project is called; "" where there is none.
        show_help: Shows a help page by its key.
        show_shortcuts: Shows the keyboard shortcuts.
        add_actions: Adds groups of actions to the menu of a title.
    """

    context: WindowContext
    state: WindowState
    show_view: Callable[[str], QWidget]
    say: Callable[[str], None]
    new_project: Callable[[Project | None], bool]
    open_project: Callable[[str], bool]
    open_run: Callable[[Path], None]
    start_from_data: Callable[[Choice], None]
    cancel_start: Callable[[], None]
    counting: SignalInstance
    train_again: Callable[[Path], None]
    ask_target: Callable[[str], None]
    hosts_changed: SignalInstance
    leave_start: Callable[[], object]
    project_name: Callable[[], str]
    show_help: Callable[[str], None]
    show_shortcuts: Callable[[], None]
    add_actions: Callable[[str, Sequence[Sequence[QAction]]], None]


MakeView = Callable[[WindowServices], QWidget]


@dataclass(frozen=True, kw_only=True)
class ViewSpec:
    """One view of the window: an action of the View menu, a segment of the switch, a page.

    Attributes:
        key: Name of the file, and of what is stored about the view; never changes.
        title: Its segment of the switch in the top bar.
        text: Its action in the View menu, with "&" before the mnemonic.
        tip: A sentence for the status tip and the shortcuts sheet.
        icon: Name of an icon of `resources/icons`.
        shortcut: Key sequence in Qt's notation; "" for none.
        order: Lower comes first.
        load: Imports the code of the view, which is not needed before the view, and
            returns the function that makes the view. May be called in any thread.
        is_start: Whether it is shown while there is no project: it has no segment, and the
            bars of a project are hidden.
    """

    key: str
    title: str
    text: str
    tip: str
    icon: str
    shortcut: str = ""
    order: int
    load: Callable[[], MakeView]
    is_start: bool = False
