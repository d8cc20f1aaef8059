"""The settings and numbers of what is selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.design.state import DesignState


def _make(state: DesignState) -> QWidget:
    from workbench.gui.design.inspector import InspectorPanel

    panel = InspectorPanel(state.context)
    panel.setMinimumWidth(250)
    panel.help_asked.connect(state.help_asked)
    panel.problem_chosen.connect(state.problem_chosen)
    state.selection_changed.connect(panel.show_nodes)
    state.node_activated.connect(panel.edit_node)
    return panel


SPEC = PanelSpec(
    key="inspector",
    view="design",
    title="Inspector",
    area="right",
    order=20,
    make=_make,
    width_px=296,
)
