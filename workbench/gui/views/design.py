"""The design view: palette, canvas, inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtWidgets import QWidget

from workbench.gui.common.view_spec import MakeView, ViewSpec, WindowServices
from workbench.gui.panels import panels_of

if TYPE_CHECKING:
    from workbench.gui.classify.view import ClassifyView


def _show_maps(services: WindowServices, layer: str) -> None:
    """Shows what a layer of the trained network gives for a picture."""
    cast("ClassifyView", services.show_view("classify")).state.layer_chosen.emit(layer)


def _load() -> MakeView:
    from workbench.gui.design.canvas_actions import MENUS
    from workbench.gui.design.view import DesignView

    def make(services: WindowServices) -> QWidget:
        view = DesignView(services.context, panels_of("design"))
        view.state.help_asked.connect(services.show_help)
        view.state.data_asked.connect(lambda: services.show_view("data"))
        view.state.maps_asked.connect(lambda layer: _show_maps(services, layer))
        for title, groups in MENUS.items():
            actions = [[view.canvas.action(key) for key in group.split()] for group in groups]
            services.add_actions(title, actions)
        return view

    return make


SPEC = ViewSpec(
    key="design",
    title="Design",
    text="&Design",
    tip="Edit the network.",
    icon="arrange",
    shortcut="Ctrl+1",
    order=10,
    load=_load,
)
