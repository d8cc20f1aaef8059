"""The training view: runs, the curves and log of one run, the recipe."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.gui.common.view_spec import MakeView, ViewSpec, WindowServices
from workbench.gui.panels import panels_of


def _load() -> MakeView:
    from workbench.gui.train.view import TrainView

    def make(services: WindowServices) -> QWidget:
        view = TrainView(services.context, panels_of("train"))
        view.train_requested.connect(services.train)
        view.train_again.connect(services.train_again)
        view.view_wanted.connect(services.show_view)
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
