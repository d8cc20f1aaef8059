"""The training view: runs, the curves and log of one run, the recipe."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import QWidget

from workbench.gui.common.view_spec import MakeView, ViewSpec, WindowServices
from workbench.gui.panels import panels_of

if TYPE_CHECKING:
    from workbench.gui.classify.view import ClassifyView
    from workbench.gui.evaluate.view import EvaluateView


def _show_model(services: WindowServices, key: str, run: Path) -> None:
    """Brings a view to the front that evaluates or classifies, with this run as its model."""
    cast("ClassifyView | EvaluateView", services.show_view(key)).chooser.choose(run)


def _load() -> MakeView:
    from workbench.gui.train.view import TrainView

    def make(services: WindowServices) -> QWidget:
        view = TrainView(services.context, panels_of("train"))
        view.train_again.connect(services.train_again)
        view.view_wanted.connect(partial(_show_model, services))
        view.project_wanted.connect(services.open_run)
        view.help_asked.connect(services.show_help)
        view.status.connect(services.say)
        return view

    return make


SPEC = ViewSpec(
    key="train",
    title="Train",
    text="&Train",
    tip="Watch the runs.",
    icon="chart",
    shortcut="Ctrl+3",
    order=30,
    load=_load,
)
