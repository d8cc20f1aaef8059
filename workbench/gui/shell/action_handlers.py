"""What each action of the window does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from workbench.gui.augmentation.opening import open_augmentation
from workbench.gui.shell.layouts import focus_next_panel
from workbench.gui.targets.menu import DIALOGS
from workbench.gui.views import all_views, project_views
from workbench.runs.home import data_home

if TYPE_CHECKING:
    from workbench.gui.data.view import DataView
    from workbench.gui.design.view import DesignView
    from workbench.gui.shell.main_window import MainWindow
    from workbench.gui.train.view import TrainView

_HELP_PAGES = {
    "getting_started": "getting_started",
    "tpu_help": "tpu",
    "remote_help": "remote",
}
"""Actions of the Help menu -> the pages they open."""
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


class ActionHandlers:
    """The parts of a window put to work by its actions."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def connect(self) -> None:
        """Lets each action of the window do its work."""
        for key, handler in self.by_key().items():
            action = self._window.actions_by_key[key]
            action.triggered.connect(lambda _=False, handler=handler: handler())

    def by_key(self) -> dict[str, Callable[[], object]]:
        """What each action does, by its key."""
        window = self._window
        return {
            **{key: partial(window.show_view, key) for key in all_views()},
            **{key: partial(window.places.ask, key) for key in DIALOGS},
            **{key: partial(window.help.show_page, page) for key, page in _HELP_PAGES.items()},
            "new": window.files.new,
            "open": window.files.ask_open,
            "save": window.files.save,
            "save_as": window.files.save_as,
            "revert": window.files.revert,
            "augmentation": partial(open_augmentation, window.context, window),
            "load_weights": partial(window.context.weights.ask, window),
            "export": window.runs.ask_export,
            "export_network": window.notebooks.ask_network,
            "export_notebook": window.notebooks.ask_export,
            "read_result": window.notebooks.ask_result,
            "close": self._close_project,
            "quit": window.close,
            "settings": window.help.show_settings,
            **{key: partial(self._ask_view, *asked) for key, asked in _ASKED.items()},
            "next_panel": lambda: focus_next_panel(window.views.currentWidget()),
            "next_view": partial(self._step_view, 1),
            "previous_view": partial(self._step_view, -1),
            "side_panels": lambda: window.layouts.toggle_sides(window.views.currentWidget()),
            "reset_layout": window.layouts.reset,
            "full_screen": self._full_screen,
            "start_run": window.runs.start,
            "pause_run": window.runs.pause,
            "stop_run": window.runs.stop,
            "report": window.runs.ask_report,
            "show_problems": window.show_problems,
            "open_runs": lambda: self.open_path(str(window.context.library.home)),
            "layer_help": self._layer_help,
            "shortcuts": window.show_shortcuts,
            "open_log": lambda: self.open_path(str(data_home())),
            "about": window.help.show_about,
        }

    def open_path(self, path: str) -> None:
        """Opens a folder in the file manager."""
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(path)):
            self._window.say(f"No file manager was found. The folder is {path}")

    def _ask_view(self, key: str, signal: str, *values: object) -> None:
        """Brings a view to the front and emits a signal of what its panels share."""
        view = cast("DesignView | DataView | TrainView", self._window.show_view(key))
        getattr(view.state, signal).emit(*values)

    def _step_view(self, step: int) -> None:
        """Shows the next view of the switch, or the one before it; all around."""
        keys = [spec.key for spec in project_views()]
        here = self._window.views.current_key
        at = keys.index(here) if here in keys else min(0, -step)
        self._window.show_view(keys[(at + step) % len(keys)])

    def _close_project(self) -> None:
        if all_views()[self._window.views.current_key].is_start:
            self._window.close()
        elif self._window.files.close():
            self._window.show_view("welcome")

    def _layer_help(self) -> None:
        """The page of the selected layers' type, else the overview."""
        selected: list[str] = []
        if self._window.views.current_key == "design":
            scene = self._window.design().canvas.scene
            selected = list(scene.shown.layers_of(scene.selected_ids()))
        nodes = self._window.context.document.graph.nodes
        self._window.help.show_layer({nodes[node].kind for node in selected})

    def _full_screen(self) -> None:
        if self._window.isFullScreen():
            self._window.showNormal()
        else:
            self._window.showFullScreen()
