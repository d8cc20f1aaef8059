"""The layer types, to be added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.gui.common.panel_spec import PanelSpec

if TYPE_CHECKING:
    from workbench.gui.design.state import DesignState


def _make(state: DesignState) -> QWidget:
    from workbench.gui.design.palette import PalettePanel

    panel = PalettePanel(state.context)
    panel.setMinimumWidth(180)
    panel.layer_chosen.connect(state.layer_chosen)
    panel.left.connect(state.canvas_asked)
    state.search_asked.connect(panel.start_search)
    return panel


SPEC = PanelSpec(
    key="palette", view="design", title="Layers", area="left", order=10, make=_make, width_px=228
)
