"""The classify view: drop an image, read the answer."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.gui.common.view_spec import MakeView, ViewSpec, WindowServices
from workbench.gui.panels import panels_of


def _load() -> MakeView:
    from workbench.gui.classify.view import ClassifyView

    def make(services: WindowServices) -> QWidget:
        view = ClassifyView(services.context, panels_of("classify"), services.state)
        view.train_requested.connect(services.train)
        return view

    return make


SPEC = ViewSpec(
    key="classify",
    title="Classify",
    text="&Classify",
    tip="Try pictures.",
    icon="picture",
    shortcut="Ctrl+5",
    order=50,
    load=_load,
)
