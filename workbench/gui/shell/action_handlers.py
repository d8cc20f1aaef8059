"""What each action of the window does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QProcess
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow

from workbench.gui.augmentation.opening import open_augmentation
from workbench.gui.common.model_chooser import ModelChooser
from workbench.gui.common.view_spec import WindowServices
from workbench.gui.files.bundles import BundleController
from workbench.gui.files.controller import FileController
from workbench.gui.help.controller import HelpController
from workbench.gui.kit.file_dialogs import open_folder
from workbench.gui.shell.layouts import Layouts, focus_next_panel
from workbench.gui.shell.view_stack import ViewStack
from workbench.gui.targets.controller import TargetController
from workbench.gui.targets.menu import DIALOGS
from workbench.gui.targets.notebook import NotebookController
from workbench.gui.train.run_controller import RunController
from workbench.gui.views import all_views, project_views
from workbench.runs.home import data_home

if TYPE_CHECKING:
    from workbench.gui.data.view import DataView
    from workbench.gui.design.view import DesignView
    from workbench.gui.train.view import TrainView

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
