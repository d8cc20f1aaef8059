"""How each view is made and tied to the window. A view's code is loaded when it is first
shown: the plots of Train, say, cost nothing to who only draws a network.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.templates import find_template

if TYPE_CHECKING:
    from workbench.gui.shell.main_window import MainWindow


_LOOKING = ("zoom_in", "zoom_out", "zoom_reset", "fit")
"""Actions of the canvas that belong into the View menu; the others edit."""


def make_view(key: str, window: MainWindow) -> QWidget:
    """Builds the view of a key."""
    return _MAKERS[key](window)


def _make_welcome(window: MainWindow) -> QWidget:
    from workbench.gui.files.welcome import WelcomeView

    view = WelcomeView(window.context, window.state)
    view.template_chosen.connect(lambda key: window.files.new(find_template(key).project))
    view.empty_chosen.connect(window.files.new)
    view.folder_chosen.connect(window.start.from_folder)
    window.start.waiting.connect(view.show_wait)
    view.file_chosen.connect(window.open_project)
    view.run_asked.connect(lambda path: _watch(window, path))
    view.connect_asked.connect(lambda: window.places.ask("connect"))
    view.help_asked.connect(
        lambda page: (
            window.actions_by_key["shortcuts"].trigger()
            if page == "shortcuts"
            else window.help.show_page(page)
        )
    )
    return view


def _watch(window: MainWindow, path: str) -> None:
    window.context.library.select(path)
    window.show_view("train")


def _make_design(window: MainWindow) -> QWidget:
    from workbench.gui.design.view import DesignView

    view = DesignView(window.context)
    view.help_asked.connect(window.help.show_page)
    looking = [view.canvas.action(key) for key in _LOOKING]
    window.add_canvas_actions([a for a in view.canvas.actions() if a not in looking], looking)
    return view


def _make_data(window: MainWindow) -> QWidget:
    from workbench.gui.data.view import DataView

    return DataView(window.context)


def _make_train(window: MainWindow) -> QWidget:
    from workbench.gui.train.view import TrainView

    view = TrainView(window.context)
    view.train_requested.connect(window.runs.start)
    view.status.connect(window.say)
    return view


def _make_evaluate(window: MainWindow) -> QWidget:
    from workbench.gui.evaluate.view import EvaluateView

    view = EvaluateView(window.context)
    view.train_requested.connect(window.runs.start)
    return view


def _make_classify(window: MainWindow) -> QWidget:
    from workbench.gui.classify.view import ClassifyView

    view = ClassifyView(window.context)
    view.train_requested.connect(window.runs.start)
    return view


_MAKERS: dict[str, Callable[[MainWindow], QWidget]] = {
    "welcome": _make_welcome,
    "design": _make_design,
    "data": _make_data,
    "train": _make_train,
    "evaluate": _make_evaluate,
    "classify": _make_classify,
}
