"""The design view: palette, canvas, inspector."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from workbench.gui.common.view_spec import MakeView, ViewSpec, WindowServices
from workbench.gui.panels import panels_of

_LOOKING = ("zoom_in", "zoom_out", "zoom_reset", "fit", "fit_selection")
"""Actions of the canvas that belong into the View menu; the others edit."""


def _load() -> MakeView:
    from workbench.gui.design.view import DesignView

    def make(services: WindowServices) -> QWidget:
        view = DesignView(services.context, panels_of("design"))
        view.state.help_asked.connect(services.show_help)
        looking = [view.canvas.action(key) for key in _LOOKING]
        services.add_actions([a for a in view.canvas.actions() if a not in looking], looking)
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
