"""The evaluate view: how well a run distinguishes the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import QWidget

from workbench.gui.common.view_spec import MakeView, ViewSpec, WindowServices
from workbench.gui.panels import panels_of

if TYPE_CHECKING:
    from workbench.gui.classify.view import ClassifyView


def _open_what_if(services: WindowServices) -> None:
    """Opens the panel in which a picture is altered, which is saved as a robustness test."""
    cast("ClassifyView", services.show_view("classify")).state.what_if_wanted.emit()


def _load() -> MakeView:
    from workbench.gui.evaluate.view import EvaluateView

    def make(services: WindowServices) -> QWidget:
        view = EvaluateView(services.context, panels_of("evaluate"), services.state)
        view.state.train_again.connect(services.train_again)
        view.state.what_if_wanted.connect(lambda: _open_what_if(services))
        view.state.said.connect(services.say)
        return view

    return make


SPEC = ViewSpec(
    key="evaluate",
    title="Evaluate",
    text="&Evaluate",
    tip="Test the model.",
    icon="target",
    shortcut="Ctrl+4",
    order=40,
    load=_load,
)
